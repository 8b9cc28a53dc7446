FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o /miniapi ./cmd/miniapi

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /miniapi /miniapi
# Inside the container the server listens on all addresses. Publish the port on loopback only, as
# docker-compose.yml does: its clients are not authenticated.
EXPOSE 8080
ENTRYPOINT ["/miniapi"]
CMD ["--listen", "0.0.0.0:8080", "--allow-unauthenticated-network-access", "--write-kubeconfig", "/tmp/kubeconfig"]
