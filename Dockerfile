# Kempelen in a container. By default it speaks UCI on standard input and output.
#
#   docker build -t kempelen .
#   docker run --rm -i kempelen                 # UCI
#   docker run --rm kempelen bench              # any sub-command
#
# The image has the extra `mqtt`. --build-arg EXTRAS=mqtt,web chooses others, and the target `full`
# has all of them:
#
#   docker build --target full -t kempelen:full .
#
# The kernel is compiled during the build, for all CPUs that have the features below.
# --build-arg CPU_NAME and CPU_FEATURES choose others (for arm64: generic and +neon).
ARG BASE=docker.io/library/python:3.13-slim
ARG CPU_NAME=x86-64-v2
ARG CPU_FEATURES=+sse4.2,+popcnt
ARG EXTRAS=mqtt

# Bytecode is written last, and not by pip or the compiler of the kernel: copies between stages round
# modification times, so it must be checked by hash or not at all.
FROM ${BASE} AS build
ARG CPU_NAME
ARG CPU_FEATURES
ENV PYTHONDONTWRITEBYTECODE=1 \
    NUMBA_CPU_NAME=${CPU_NAME} \
    NUMBA_CPU_FEATURES=${CPU_FEATURES} \
    INSTALL="/opt/pip/bin/python -m pip --python /opt/kempelen/bin/python install --no-cache-dir --no-compile --disable-pip-version-check" \
    FINISH="find /opt/kempelen -type d -name tests -prune -exec rm -rf {} + && python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/kempelen"
RUN python3 -m venv /opt/pip && python3 -m venv --without-pip /opt/kempelen
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY agent agent
COPY openings openings
COPY protocols protocols
COPY kempelen kempelen
RUN ${INSTALL} .
WORKDIR /
# The image runs as another user, who must be able to read the compiled code.
RUN install -d -m 755 /opt/kempelen/cache \
    && KEMPELEN_CACHE_DIR=/opt/kempelen/cache /opt/kempelen/bin/kempelen warmup

FROM build AS build-full
RUN ${INSTALL} 'kempelen[all]' && sh -c "${FINISH}"

FROM build AS build-default
ARG EXTRAS
RUN ${INSTALL} "kempelen[${EXTRAS}]" && sh -c "${FINISH}"

FROM ${BASE} AS runtime
ARG CPU_NAME
ARG CPU_FEATURES
ENV PATH=/opt/kempelen/bin:${PATH} \
    PYTHONDONTWRITEBYTECODE=1 \
    KEMPELEN_CACHE_DIR=/opt/kempelen/cache \
    KEMPELEN_DATA_DIR=/data/kempelen \
    NUMBA_CPU_NAME=${CPU_NAME} \
    NUMBA_CPU_FEATURES=${CPU_FEATURES}
# The official Python images have no bytecode, and the user below cannot write it.
RUN python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash \
        -x '/(test|tests|idlelib|lib2to3|ensurepip|turtledemo|site-packages|dist-packages)/' \
        "$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"
# Any user may write to /data, as containers may run as another user (docker run --user).
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin kempelen \
    && install -d -m 1777 -o kempelen -g kempelen /data
USER 10001
WORKDIR /data
# A server is healthy if its /health answers: --env KEMPELEN_HEALTH_URL=http://127.0.0.1:PORT/health
HEALTHCHECK --timeout=10s CMD [ -z "${KEMPELEN_HEALTH_URL}" ] || python3 -c 'import os, ssl, urllib.request as request; request.urlopen(os.environ["KEMPELEN_HEALTH_URL"], timeout=5, context=ssl._create_unverified_context())'
ENTRYPOINT ["kempelen"]
CMD ["uci"]

FROM runtime AS full
COPY --from=build-full /opt/kempelen /opt/kempelen
ENV KEMPELEN_IMAGE_EXTRAS=all

FROM runtime
ARG EXTRAS
COPY --from=build-default /opt/kempelen /opt/kempelen
ENV KEMPELEN_IMAGE_EXTRAS=${EXTRAS}
