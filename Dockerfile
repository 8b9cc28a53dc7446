# syntax=docker/dockerfile:1
# The image of miniapi. `docker build .` compiles the program; the release (.goreleaser.yaml) sets
# SOURCE=prebuilt and provides the program in the folder of each platform.
ARG SOURCE=build

FROM --platform=$BUILDPLATFORM golang:1.26.8 AS build
ARG TARGETOS TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags '-s -w' -o /miniapi ./cmd/miniapi

FROM scratch AS prebuilt
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/miniapi /miniapi

FROM ${SOURCE} AS program

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=program /miniapi /miniapi
USER 65532:65532
# Inside the container the server listens on all addresses. Publish the port on loopback only, as
# docker-compose.yml does: its clients are not authenticated.
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=10s --start-period=30s --start-interval=500ms CMD ["/miniapi", "healthcheck"]
ENTRYPOINT ["/miniapi"]
CMD ["--listen", "0.0.0.0:8080", "--allow-unauthenticated-network-access", "--write-kubeconfig", "/tmp/kubeconfig"]
