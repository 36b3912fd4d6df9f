version https://git-lfs.github.com/spec/v1
oid sha256:68eed655e04a75c51f2a2cf60fcfd48947bdbadfd8fce32c9135bae764cddb2d
size 190123456
