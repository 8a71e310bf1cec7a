# Kempelen in a container. By default it speaks UCI on standard input and output.
#
#   docker build -t kempelen .
#   docker run --rm -i kempelen                 # UCI
#   docker run --rm kempelen bench              # any sub-command
#
# The kernel is compiled during the build, for all CPUs that have the features below.
# --build-arg CPU_NAME and CPU_FEATURES choose others (for arm64: generic and +neon).
ARG BASE=docker.io/library/python:3.13-slim
ARG CPU_NAME=x86-64-v2
ARG CPU_FEATURES=+sse4.2,+popcnt

FROM ${BASE} AS build
ARG CPU_NAME
ARG CPU_FEATURES
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY agent agent
COPY openings openings
COPY protocols protocols
COPY kempelen kempelen
RUN python3 -m venv /opt/kempelen \
    && /opt/kempelen/bin/python -m pip install --no-cache-dir --no-compile \
        --disable-pip-version-check '.[mqtt]' \
    && /opt/kempelen/bin/python -m pip uninstall --yes pip setuptools \
    && find /opt/kempelen -type d -name tests -prune -exec rm -rf {} +
# unchecked-hash, because copies between stages round the modification times of sources.
RUN python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/kempelen
ENV NUMBA_CPU_NAME=${CPU_NAME} NUMBA_CPU_FEATURES=${CPU_FEATURES}
# The image runs as another user, who must be able to read the compiled code.
RUN install -d -m 755 /opt/kempelen/cache \
    && KEMPELEN_CACHE_DIR=/opt/kempelen/cache /opt/kempelen/bin/kempelen warmup

FROM ${BASE}
ARG CPU_NAME
ARG CPU_FEATURES
COPY --from=build /opt/kempelen /opt/kempelen
ENV PATH=/opt/kempelen/bin:${PATH} \
    PYTHONDONTWRITEBYTECODE=1 \
    KEMPELEN_CACHE_DIR=/opt/kempelen/cache \
    NUMBA_CPU_NAME=${CPU_NAME} \
    NUMBA_CPU_FEATURES=${CPU_FEATURES}
# The official Python images have no bytecode, and the user below cannot write it.
RUN python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash \
        -x '/(test|tests|idlelib|lib2to3|ensurepip|turtledemo|site-packages|dist-packages)/' \
        "$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin kempelen \
    && install -d -o kempelen -g kempelen /data
USER 10001
WORKDIR /data
ENTRYPOINT ["kempelen"]
CMD ["uci"]
