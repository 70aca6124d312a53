#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the documents name only what exists?

docs.py links TREE              links of *.md, and paths in `code`
docs.py targets TREE BUILD      `make TARGET`, against BUILD/Makefile
docs.py commands TREE LENS      `slurm-lens COMMAND --option`, against the program's own help
docs.py options TREE            --lens-... of sbatch, against the source
docs.py keys TREE               Key=Value of lens.conf, against the source; both ways for lens.conf
docs.py snippets TREE           ```python and ```bash blocks are what they say
docs.py names TREE              spans and attributes, against source and docs/spans.md
docs.py dashboard TREE          the same for contrib/grafana, and that Grafana can read it
docs.py map TREE                directories and make targets are in CONTRIBUTING.md
docs.py manual TREE LENS        each option of each --help is in slurm-lens(1), and no other
docs.py packages TREE           the build packages of README.md are those of contrib/quickstart
                                and of the Debian package

Each line of output is something wrong; exit status 1 when there is one.
"""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

# Settings of Slurm that the documents name beside lens.conf's.
SLURM_KEYS = {"PrologFlags", "PlugStackConfig", "Prolog", "Epilog", "TaskProlog", "MinJobAge",
              "SlurmctldTimeout", "SlurmdTimeout", "PurgeJobAfter", "ReturnToService", "AuthInfo",
              "SchedulerParameters", "SlurmctldParameters", "PrivateData", "ProctrackType",
              "CgroupPlugin", "LaunchParameters"}
PLACEHOLDERS = {"COMMAND", "..."}


def documents(tree):
    for pattern in ("*.md", "docs/*.md", "contrib/**/*.md", "tests/**/*.md"):
        for path in sorted(tree.glob(pattern)):
            if "node_modules" not in path.parts:
                yield path, path.read_text(encoding="utf-8")


def code(text):
    """(line number, text) of each line in a ``` block and of each `span`."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced:
            yield number, line
        else:
            for span in re.findall(r"`([^`]+)`", line):
                yield number, span


def where(tree, path, number):
    return f"{path.relative_to(tree)}:{number}"


def anchors(text):
    """What GitHub makes of the headings."""
    for title in re.findall(r"^#+ +(.+)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def link_broken(tree, path, text, link):
    file, _, anchor = link.partition("#")
    target = (path.parent / file).resolve() if file else path
    if not target.exists():
        return "does not exist"
    if anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
        return f"{target.relative_to(tree.resolve()) if file else 'this page'} has no heading #{anchor}"
    return None


def links(tree):
    for path, text in documents(tree):
        for number, line in enumerate(text.splitlines(), 1):
            for link in re.findall(r"\]\(([^)\s]+)\)", line):
                if not re.match(r"[a-z]+:", link):
                    wrong = link_broken(tree, path, text, link)
                    if wrong:
                        yield f"{where(tree, path, number)}: {link}: {wrong}"
        for number, span in code(text):
            for name in re.findall(r"(?<![\w/.$*-])(?:cmd|contrib|docs|etc|lib|spank|tests)/[\w./-]*\w(?![\w{*])", span):
                if not (tree / name).exists() and not re.search(r"NAME|build/", name):
                    yield f"{where(tree, path, number)}: {name} does not exist"


def targets(tree, build):
    makefile = (Path(build) / "Makefile").read_text(encoding="utf-8")
    known = set(re.findall(r"^([\w-]+)(?: [\w -]+)?:(?!=)", makefile, re.MULTILINE))
    for name in re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE):
        known.update(name.split())
    for path, text in documents(tree):
        for number, line in code(text):
            for command in re.findall(r"(?:^|&& |[#$] |; )\s*make((?: +[\w=./-]+)*)", line):
                for word in command.split():
                    if "=" not in word and not word.startswith("-") and word not in known:
                        yield f"{where(tree, path, number)}: make {word}: no such target"


def helps(lens):
    """{command: its help}, by the program itself."""
    def say(*arguments):
        return subprocess.run([lens, *arguments], stdout=subprocess.PIPE, check=True, text=True).stdout
    listed = re.search(r"^Commands:\n((?:  .+\n)+)", say("--help"), re.MULTILINE).group(1)
    names = [line.split()[0] for line in listed.splitlines()]
    return {name: say(name, "--help") for name in names if name != "help"}


def options_of(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def commands(tree, lens):
    known = helps(lens)
    for path, text in documents(tree):
        for number, line in code(text):
            for name, rest in re.findall(r"(?<![\w/.-])slurm-lens +([\w.-]+)([^|;#&)`]*)", line):
                if name in PLACEHOLDERS | {"help", "--help", "--version"} or not re.match(r"[a-z]+$", name):
                    continue
                if name not in known:
                    yield f"{where(tree, path, number)}: slurm-lens {name}: no such command"
                    continue
                for option in sorted(options_of(rest.split(" -- ")[0]) - options_of(known[name]) - {"--help"}):
                    yield f"{where(tree, path, number)}: slurm-lens {name} has no {option}"


def options(tree):
    source = (tree / "lib/core/options.c").read_text(encoding="utf-8")
    known = {"--" + name for name in re.findall(r'\{ "(lens[a-z-]*)", "', source)}
    pages = list(documents(tree)) + [
        (path, path.read_text(encoding="utf-8")) for path in (tree / "docs/spank-lens.8",)]
    for path, text in pages:
        for number, line in enumerate(text.replace("\\-", "-").splitlines(), 1):
            line = re.sub(r"\.(?:It|Op) Fl -|\.Fl -", "--", line)
            for option in re.findall(r"(?<![\w-])--lens(?:-[a-z]+)*(?![\w*-])", line):
                if option not in known:
                    yield f"{where(tree, path, number)}: sbatch has no {option}"
    manual = pages[-1][1]
    for option in sorted(known):
        if not re.search(r"^\.It Fl -" + option[2:] + r"\b(?!-)", manual, re.MULTILINE):
            yield f"docs/spank-lens.8: {option} is missing"


def known_keys(tree):
    return set(re.findall(r'\{ "([A-Z]\w+)",', (tree / "lib/core/config_keys.c").read_text(encoding="utf-8")))


def keys(tree):
    known = known_keys(tree)
    for path, text in documents(tree):
        for number, line in code(text):
            for key in re.findall(r"(?:^|(?<=[\s(]))([A-Z][a-z]\w+) ?=(?!=)", line):
                if key not in known | SLURM_KEYS | {"Key"}:
                    yield f"{where(tree, path, number)}: lens.conf has no key {key}"
    pages = {
        "etc/lens.conf": r"^#(\w+)=",
        "docs/lens.conf.5": r"^\.It (?:.* , )?Cm (\w+) Ns = ",
    }
    for page, pattern in pages.items():
        text = (tree / page).read_text(encoding="utf-8")
        named = set(re.findall(pattern, text, re.MULTILINE))
        named |= set(re.findall(r"^\.It Cm (\w+) Ns = ", text, re.MULTILINE))
        for key in sorted(known ^ named):
            yield f"{page}: {key} is {'missing' if key in known else 'no key'}"


def blocks(text):
    """(line number, language, code) of each ``` block that names its language."""
    for match in re.finditer(r"^( *)```(\w+)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start()) + 1, match[2], textwrap.dedent(match[3])


def snippets(tree):
    for path, text in documents(tree):
        for number, language, source in blocks(text):
            if language == "python":
                try:
                    compile(source, path.name, "exec")
                except SyntaxError as error:
                    yield f"{where(tree, path, number)}: {error}"
            elif language in ("sh", "bash"):
                done = subprocess.run(["bash", "-n"], input=source, stderr=subprocess.PIPE, text=True)
                if done.returncode:
                    yield f"{where(tree, path, number)}: {done.stderr.strip()}"


def known_names(tree):
    """Spans, attributes and variables in strings of the sources."""
    names = set()
    for path in [*tree.glob("lib/**/*.[ch]"), *tree.glob("spank/*.[ch]"), *tree.glob("cmd/*.c")]:
        names.update(re.findall(r'"((?:slurm|nv|nemo|lens|process|error|service|host|deployment)\.[\w.]+|purpose)"',
                                path.read_text(encoding="utf-8")))
    return names


NAME = r"(?<![\w./-])(?:resource\.|span\.)?((?:slurm|nv|nemo|lens|process|error|deployment)\.[a-z_]+(?:\.[a-z_]+)*)(?![\w*]|\.\w|\()"
FILES = re.compile(r"\.(conf|md|spec|json|jsonl|so|log|sh|lock)$")


def names(tree):
    known = known_names(tree)
    for path, text in documents(tree):
        if path.name not in ("analyst.md", "admin.md", "user.md", "README.md", "spans.md"):
            continue
        for number, span in code(text):
            for name in re.findall(NAME, span):
                if name not in known and not FILES.search(name):
                    yield f"{where(tree, path, number)}: nothing writes {name}"


def dashboard_query(query, known):
    for kind, name in re.findall(r"\b(resource|span)\.([a-z_]+(?:\.[a-z_]+)*)", query):
        if name not in known:
            yield f"nothing writes {kind}.{name}"
    for name in re.findall(r'\bname = "([^"]+)"', query):
        if name not in known:
            yield f"no span is called {name}"


def dashboard(tree):
    known = known_names(tree)
    for path in sorted((tree / "contrib/grafana").glob("*.json")):
        place = path.relative_to(tree)
        page = json.loads(path.read_text(encoding="utf-8"))
        variables = {v["name"]: v["type"] for v in page["templating"]["list"]}
        if variables.get("tempo") != "datasource":
            yield f"{place}: no variable for the data source"
        ids = [panel["id"] for panel in page["panels"]]
        for number in sorted({n for n in ids if ids.count(n) > 1}):
            yield f"{place}: {ids.count(number)} panels have the id {number}"
        for panel in page["panels"]:
            if panel["type"] == "row":
                continue
            title = f"{place}: {panel['title']}"
            for source in [panel["datasource"], *(t["datasource"] for t in panel["targets"])]:
                if source != {"type": "tempo", "uid": "${tempo}"}:
                    yield f"{title}: its data source is not the variable"
            for target in panel["targets"]:
                yield from (f"{title}: {wrong}" for wrong in dashboard_query(target["query"], known))
                for used in re.findall(r"\$(\w+)", target["query"]):
                    if used not in variables:
                        yield f"{title}: ${used} is no variable"


def contributing(tree):
    text = (tree / "CONTRIBUTING.md").read_text(encoding="utf-8")
    makefile = (tree / "Makefile.am").read_text(encoding="utf-8")
    for fragment in re.findall(r"^include (\S+)$", makefile, re.MULTILINE):
        place = f"{Path(fragment).parent}/"
        if place != "tests/" and f"`{place}`" not in text:
            yield f"CONTRIBUTING.md: the map lacks {place}"
        rules = (tree / fragment).read_text(encoding="utf-8")
        for target in " ".join(re.findall(r"^\.PHONY: (.+)$", rules, re.MULTILINE)).split():
            if "/" not in target and not re.search(rf"(?<![\w-]){target}(?![\w-])", text):
                yield f"CONTRIBUTING.md: make {target} is missing"


def manual_sections(text):
    """{command: what its section in the rendered page says}."""
    found = {}
    for part in re.split(r"^ +slurm-lens (?=[a-z]+$)", text, flags=re.MULTILINE)[1:]:
        name, _, rest = part.partition("\n")
        found[name] = re.split(r"^[A-Z]", rest, maxsplit=1, flags=re.MULTILINE)[0]
    return found


def manual(tree, lens):
    page = subprocess.run(["groff", "-mandoc", "-Tascii", "-P-bcou", "-rLL=200n", str(tree / "docs/slurm-lens.1")],
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    sections = manual_sections(page)
    for name, text in helps(lens).items():
        if name not in sections:
            yield f"slurm-lens(1) has no section for {name}"
            continue
        given = set(re.findall(r"^ +(?:-\w, )?(--[a-z][a-z-]*)", text, re.MULTILINE)) - {"--help"}
        for option in sorted(given - options_of(sections[name])):
            yield f"slurm-lens(1): {name} {option} is missing"
        for option in sorted(options_of(sections[name]) - options_of(text)):
            if not option.startswith("--lens"):
                yield f"slurm-lens(1): {name} has no {option}"


def quickstart_packages(tree):
    text = (tree / "contrib/quickstart").read_text(encoding="utf-8")
    for array in ("TOOLS_BUILD", "LIBRARIES"):
        for word in re.search(rf"^{array}=\(([^)]*)\)", text, re.MULTILINE)[1].split():
            yield word.split(":")[-1]


# What a Debian package is built with in any case, by build-essential and debhelper.
PACKAGE_IMPLIES = {"gcc", "make", "libc6-dev", "autoconf", "automake", "libtool"}


def packages(tree):
    needed = set(quickstart_packages(tree))
    text = (tree / "README.md").read_text(encoding="utf-8")
    sentence = re.search(r"Debian's packages for that:([^;]*);", text)
    control = (tree / "contrib/package/debian/control").read_text(encoding="utf-8")
    depends = re.search(r"^Build-Depends: (.*)$", control, re.MULTILINE)[1]
    depends = set(re.findall(r"[a-z][\w.-]+", re.sub(r"@\w+@|\([^)]*\)", "libslurm-dev, ", depends)))
    lists = {
        "README.md": (needed, set(sentence[1].split()) if sentence else set()),
        "contrib/package/debian/control": (needed - PACKAGE_IMPLIES, depends - {"debhelper-compat"}),
    }
    for page, (right, given) in lists.items():
        for name in sorted(right ^ given):
            yield (f"{page}: the build package {name} "
                   + ("is missing" if name in right else "is none of contrib/quickstart's"))


CHECKS = {f.__name__: f for f in (links, targets, commands, options, keys, snippets, names, dashboard, manual, packages)}
CHECKS["map"] = contributing


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in CHECKS:
        sys.exit(__doc__)
    wrong = list(CHECKS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:]))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
