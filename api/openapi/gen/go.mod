module github.com/miniapi/miniapi/api/openapi/gen

go 1.26.0
