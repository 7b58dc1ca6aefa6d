# syntax=docker/dockerfile:1

# Builds the console. Only the resulting files are copied into the final image.
FROM node:26-trixie-slim AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY sdk/package.json sdk/
COPY console/package.json console/
RUN npm ci --workspace=console --include=dev --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY scripts/build-console.mjs scripts/
COPY sdk sdk
COPY console console
RUN node scripts/build-console.mjs

# Builds the website of the documents. Only the resulting files are copied into the final image.
FROM node:26-trixie-slim AS guides
WORKDIR /app
COPY docs/site/package.json docs/site/package-lock.json docs/site/
RUN cd docs/site && npm ci --ignore-scripts --no-audit --no-fund && cp package-lock.json node_modules/.installed
COPY scripts/docs.ts scripts/
COPY *.md ./
COPY sdk/README.md sdk/
COPY sdk-python/README.md sdk-python/
COPY docs docs
RUN node scripts/docs.ts build

# The Node.js of this stage only runs npm. The pinned Node.js of the server is an npm package, as in a checkout.
FROM node:26-trixie-slim AS packages
# The pinned Node.js is linked against libatomic, which slim images do not contain.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libatomic1 \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY sdk/package.json sdk/build.mjs sdk/
COPY console/package.json console/
COPY scripts/bootstrap.mjs scripts/
RUN ATRIUM_OMIT_DEV=1 node scripts/bootstrap.mjs
COPY . .
RUN rm -rf console sdk sdk-python scripts/build-console.mjs scripts/docs.ts tsconfig.json *.md \
    && find docs -mindepth 1 -not -path docs/openapi.json -delete
# npm 12 runs no install scripts. This creates the symbolic links between the libraries of PostgreSQL while the
# directory is still writable.
RUN node_modules/.bin/node --input-type=module \
    --eval "await (await import('/app/src/platform/postgres/binaries.ts')).findBinaries()"

FROM debian:trixie-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libatomic1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --home-dir /data --no-create-home --shell /usr/sbin/nologin atrium \
    && install --directory --owner=atrium --group=atrium --mode=700 /data \
    && install --directory --owner=atrium --group=atrium /var/cache/atrium
WORKDIR /app
COPY --from=packages /app ./
COPY --from=console /app/console/dist console/dist
COPY --from=guides /app/docs/site/dist docs/site/dist
ENV PATH=/app/node_modules/.bin:$PATH \
    NODE_COMPILE_CACHE=/var/cache/atrium \
    NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data
USER atrium
# The compile cache of Node.js is per user, so the user of the server fills it. Importing main.ts starts nothing.
RUN node --input-type=module --eval "await import('/app/src/main.ts')"
VOLUME /data
EXPOSE 3000
# On SIGTERM, requests and jobs in progress get 25 seconds to finish: run the image with --stop-timeout 30.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--external-memory-accounted-in-global-limit", "src/main.ts"]
