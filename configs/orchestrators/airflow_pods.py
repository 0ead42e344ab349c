"""A day of dupsieve every morning, in Airflow 3, in a pod that has nothing but a bucket.

Put this file where Airflow looks for DAGs; it needs the package apache-airflow-providers-cncf-kubernetes. As in
`kubernetes-bucket.yaml`, the ConfigMap `dupsieve` has daily.toml, in which inputs, output and store are addresses, and the secret
`dupsieve-objects` has the credentials as variables.

- What the pod has on its disk goes with the pod. A pod that is evicted is started again, and goes on with what was published.
- Every code but 0 is tried again, since the operator does not tell one from another. A day that cannot be done ends in the same way each
  time, and changes nothing.
- A day starts when the day before it has succeeded, and `airflow backfill create --dag-id dupsieve_pods` runs past days in
  the same order.
"""

from datetime import datetime, timedelta

from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.sdk import DAG
from kubernetes.client import models as k8s

CACHE, CONFIG = "/cache", "/etc/dupsieve"

with DAG(
    dag_id="dupsieve_pods",
    schedule="0 3 * * *",
    start_date=datetime(2026, 11, 18),
    catchup=True,
    max_active_runs=1,
    default_args={"depends_on_past": True, "retries": 3, "retry_delay": timedelta(minutes=2)},
    doc_md=__doc__,
):
    KubernetesPodOperator(
        task_id="near_duplicates",
        name="dupsieve",
        image="dupsieve:0.2.0",
        arguments=["run", f"{CONFIG}/daily.toml", "--date", "{{ ds }}", "--cache", CACHE, "--log-format", "json"],
        env_from=[k8s.V1EnvFromSource(secret_ref=k8s.V1SecretEnvSource(name="dupsieve-objects", optional=True))],
        volumes=[
            k8s.V1Volume(name="config", config_map=k8s.V1ConfigMapVolumeSource(name="dupsieve")),
            # Room for the batch and its outputs, and for the segment that enters the store.
            k8s.V1Volume(name="cache", empty_dir=k8s.V1EmptyDirVolumeSource(size_limit="100Gi")),
        ],
        volume_mounts=[
            k8s.V1VolumeMount(name="config", mount_path=CONFIG, read_only=True),
            k8s.V1VolumeMount(name="cache", mount_path=CACHE),
        ],
        container_resources=k8s.V1ResourceRequirements(requests={"cpu": "8", "memory": "16Gi"}, limits={"memory": "16Gi"}),
        security_context=k8s.V1PodSecurityContext(run_as_non_root=True, run_as_user=10001, fs_group=10001),
        # A pod that is asked to go ends with 75 within this time.
        termination_grace_period=60,
    )
