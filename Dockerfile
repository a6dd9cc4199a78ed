# The example operator as an image: built by the Deno that develops it, then alone on an image with libc, certificates and nothing else.
#   docker build -t website-operator:0.1.0 .
ARG DENO=denoland/deno:2.9.6
ARG BASE=gcr.io/distroless/cc-debian12:nonroot

FROM ${DENO} AS build
WORKDIR /source
COPY . .
ARG MAIN=examples/01_website/main.ts
RUN deno run -A cli/main.ts build ${MAIN} --output /operator

FROM ${BASE}
COPY --from=build --chmod=0755 /operator /operator
USER 65532:65532
ENTRYPOINT ["/operator"]
CMD ["start"]
