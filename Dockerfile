FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o /miniapi ./cmd/miniapi

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /miniapi /miniapi
# In a container the port is published by whoever runs it, on an address of
# their choice: docker-compose.yml publishes on loopback only.
EXPOSE 8080
ENTRYPOINT ["/miniapi"]
CMD ["--listen", "0.0.0.0:8080", "--allow-unauthenticated-network-access", "--write-kubeconfig", "/tmp/kubeconfig"]
