# From downloaded or generated files to integer arrays: fetch or synthesise -> prepare -> encode.

DATA = f"{RESULTS}/data/{{dataset}}/{{recipe}}"


rule fetch:
    output:
        file=f"{RESULTS}/data/sources/{{dataset}}/{{file}}",
        origin=f"{RESULTS}/data/sources/{{dataset}}/{{file}}.origin.json",
    log:
        f"{RESULTS}/logs/fetch/{{dataset}}/{{file}}.log",
    wildcard_constraints:
        file=r"[^/]+(?<!\.origin\.json)",
    retries: 0
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=500,
        runtime=60,
    params:
        manual=f"{RESULTS}/data/manual",
        found=sentence(INPUTS.by_hand),
    shell:
        "exec python -m workflow.scripts fetch --dataset {wildcards.dataset:q}"
        ' --file {wildcards.file:q} --mirror "$SACCADE_MIRROR" --manual {params.manual:q}'
        " --out {output.file:q} > {log:q} 2>&1"


# Features of images are got by hand. A rule of your own in its place may make them: it writes the
# same index, see workflow/datasets/kinds/image_features.py.
rule index_features:
    output:
        f"{RESULTS}/data/features/{{dataset}}/{FEATURES}",
    log:
        f"{RESULTS}/logs/index_features/{{dataset}}.log",
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=500,
        runtime=60,
    params:
        manual=f"{RESULTS}/data/manual",
        found=INPUTS.features(FEATURES),
        code=INPUTS.code("index_features"),
    shell:
        "exec python -m workflow.scripts index_features --dataset {wildcards.dataset:q}"
        " --manual {params.manual:q} --out {output:q} > {log:q} 2>&1"


rule synthesise:
    output:
        directory(f"{DATA}/raw"),
    log:
        f"{RESULTS}/logs/synthesise/{{dataset}}/{{recipe}}.log",
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
        runtime=60,
    params:
        recipe=sentence(INPUTS.recipe_json),
        code=sentence(INPUTS.dataset_code("synthesise")),
    shell:
        "exec python -m workflow.scripts synthesise --recipe {params.recipe:q}"
        " --out {output:q} > {log:q} 2>&1"


rule prepare:
    input:
        sentence(INPUTS.of_prepare),
    output:
        directory(f"{DATA}/prepared"),
    log:
        f"{RESULTS}/logs/prepare/{{dataset}}/{{recipe}}.log",
    localrule: True
    conda:
        ENVIRONMENT
    threads: sentence(INPUTS.data_threads)
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        recipe=sentence(INPUTS.recipe_json),
        files=INPUTS.raw_files,
        code=sentence(INPUTS.dataset_code("prepare")),
    shell:
        "exec python -m workflow.scripts prepare --recipe {params.recipe:q}"
        " --sources {params.files:q} --out {output:q} --threads {threads} > {log:q} 2>&1"


rule encode:
    input:
        f"{DATA}/prepared",
    output:
        directory(f"{DATA}/encoded"),
    log:
        f"{RESULTS}/logs/encode/{{dataset}}/{{recipe}}.log",
    localrule: True
    conda:
        ENVIRONMENT
    threads: sentence(INPUTS.data_threads)
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        recipe=sentence(INPUTS.recipe_json),
        code=sentence(INPUTS.dataset_code("encode")),
    shell:
        "exec python -m workflow.scripts encode --recipe {params.recipe:q}"
        " --prepared {input:q} --out {output:q} --threads {threads} > {log:q} 2>&1"


# The first examples of each split, which a plan with a limit reads in place of all.
rule limit:
    input:
        f"{DATA}/encoded",
    output:
        directory(f"{DATA}/limit-{{examples}}"),
    log:
        f"{RESULTS}/logs/limit/{{dataset}}/{{recipe}}/{{examples}}.log",
    wildcard_constraints:
        examples="[1-9][0-9]*",
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
        runtime=60,
    params:
        code=INPUTS.code("limit"),
    shell:
        "exec python -m workflow.scripts limit --encoded {input:q}"
        " --examples {wildcards.examples:q} --out {output:q} > {log:q} 2>&1"
