# What a person can ask for. Everything else is in workflow/rules, one file per stage.


include: "workflow/rules/config.smk"


configfile: str(ROOT / "config.yaml")


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/record.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/budget.smk"


localrules:
    all,


rule all:
    default_target: True
    input:
        rules.report.output,
        sentence(INPUTS.explorer),


with exit_on_user_error():
    TARGETS.check_names(rule.name for rule in workflow.rules)

# One per experiment, per table and figure (<paper>_<table>), and per paper.
for target in TARGETS.names:

    rule:
        name:
            target
        input:
            INPUTS.target(target),
        localrule: True


# The sentences of the jobs that failed, last, however quiet Snakemake was told to be.
# A terminal's line of progress goes first.
onerror:
    print(
        "\r\x1b[K" if sys.stderr.isatty() else "",
        "\n".join(failures([Path(RESULTS, "logs"), Path(SCALE, "logs")], STARTED)),
        sep="",
        file=sys.stderr,
    )


# Any other name: an answer that suggests the nearest target.
rule unknown_target:
    input:
        sentence(lambda wildcards: TARGETS.refuse(wildcards.unknown)),
    output:
        "{unknown,[A-Za-z0-9_-]+}",
    localrule: True
