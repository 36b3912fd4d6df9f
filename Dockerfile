# An image of nothing but the program:  docker build -t gedit-tf . && docker run --rm -v "$PWD:/w" -w /w gedit-tf inspect model.pb
FROM debian:12 AS build
COPY . /src
RUN /src/scripts/install-dependencies build && /src/scripts/build release -DBUILD_TESTING=OFF && strip /src/build/release/gedit

FROM scratch
COPY --from=build /src/build/release/gedit /gedit-tf
ENTRYPOINT ["/gedit-tf"]
