#!/usr/bin/env bash
# git and make: a repository is made, cloned, checked and changed on the mount, a program built.
. "$(dirname "$0")/lib.sh"
command -v git >/dev/null || skip "no git"
command -v make >/dev/null || skip "no make"
start_responder
mount_export
export HOME=$work GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git config --global --add safe.directory '*'
git config --global init.defaultBranch main

git init -q "$work/origin"
for i in $(seq 200); do
  mkdir -p "$work/origin/d$((i % 10))"
  seq "$i" $((i * 20)) >"$work/origin/d$((i % 10))/f$i"
done
git -C "$work/origin" add .
git -C "$work/origin" commit -q -m first
git clone -q "$work/origin" "$mnt/clone"
git -C "$mnt/clone" fsck --full --strict
same "" "$(git -C "$mnt/clone" status --porcelain)" "status of a fresh clone"
echo more >>"$mnt/clone/d1/f1"
git -C "$mnt/clone" commit -q -a -m second
git -C "$mnt/clone" gc -q
git -C "$mnt/clone" checkout -q HEAD~1
git -C "$mnt/clone" checkout -q main
git -C "$mnt/clone" fsck --full --strict
git clone -q "$mnt/clone" "$work/back"
diff -r --exclude=.git "$mnt/clone" "$work/back"

mkdir "$mnt/build"
cd "$mnt/build"
for i in $(seq 10); do
  echo "int f$i(void) { return $i; }" >f$i.c
done
{
  for i in $(seq 10); do echo "int f$i(void);"; done
  echo 'int main(void) { return 55 != f1()+f2()+f3()+f4()+f5()+f6()+f7()+f8()+f9()+f10(); }'
} >main.c
printf 'prog: main.o %s\n\tcc -o $@ $^\n' "$(seq -f f%.0f.o -s ' ' 10)" >Makefile
make -s -j4
./prog
make -q || fail "make wants to build again: times are wrong"
touch f3.c
! make -q || fail "make does not see a newer file"
make -s
./prog
cd "$work"
