# train writes a run's spec and makes its weights, or takes them from the store. A job that
# Snakemake submits to Slurm knows how long it may take, and leaves in time to be continued by a
# retry. A run that asks for several GPUs is trained by as many processes.

RUN = f"{SCALE}/runs/{{experiment}}/{{variant}}/seed-{{seed}}"
RUN_NAME = "{experiment}/{variant}/seed-{seed}"


rule train:
    input:
        unpack(compared(INPUTS.of_train, INPUTS.spec, INPUTS.other_draft)),
    output:
        spec=f"{RUN}/spec.json",
        weights=f"{RUN}/weights.safetensors",
        history=f"{RUN}/history.jsonl",
        run=f"{RUN}/run.json",
        checkpoints=directory(f"{RUN}/checkpoints"),
    log:
        f"{SCALE}/logs/train/{RUN_NAME}.log",
    wildcard_constraints:
        experiment=rf"(?!{LOCAL})[a-z][a-z0-9_]*",
    conda:
        ENVIRONMENT
    threads: lambda wildcards: INPUTS.threads(wildcards) * INPUTS.processes(wildcards)
    resources:
        mem_mb=resource("memory"),
        runtime=runtime,
        gpu=resource("gpu"),
        nodes=1,
    params:
        draft=sentence(INPUTS.draft),
        folder=lambda wildcards, output: str(Path(output.run).parent),
        parents=lambda wildcards: INPUTS.parents(wildcards),
        # Naming `output` keeps a parameter out of what runs a job again: fewer GPUs, the same run.
        processes=lambda wildcards, output: INPUTS.processes(wildcards),
    shell:
        "exec python -m workflow.scripts train --draft {params.draft:q} --data {input.data:q}"
        ' --store "$SACCADE_STORE" --out {params.folder:q} --device "$SACCADE_DEVICE"'
        " --processes {params.processes:q}"
        " ${{SLURM_JOB_ID:+--time-limit $(({resources.runtime} * 60))}}"
        " {params.parents:q} > {log:q} 2>&1"


use rule train as train_locally with:
    wildcard_constraints:
        experiment=rf"(?={LOCAL})[a-z][a-z0-9_]*",
    localrule: True
