"""Names of programs and of commands of shells, beside which a command may be a function of a file that is sourced."""

from __future__ import annotations

import re

from shmlint.model.launch import ENGINES
from shmlint.syntax.word import TALKERS

_SHELL = """
. : [ [[ alias autoload bg bind break builtin caller cd command compgen complete compopt continue coproc declare dirs
disown do done echo else emulate enable end esac eval exec exit export false fc fg fi for function getopts hash help
history if jobs kill let local logout mapfile popd print printf pushd pwd read readarray readonly return select set
setopt shift shopt source suspend test then time times trap true type typeset ulimit umask unalias unset unsetopt
until wait while zmodload
abbr and argparse begin block bass case commandline contains count emit fish_add_path functions isatty math not or
path random realpath set_color status string switch
"""
_SYSTEM = """
adb addgroup adduser apk apt apt-add-repository apt-cache apt-get apt-key apt-mark ar arch arp at atq awk b2sum base32
base64 basename batch bc blkid bzip2 cal cat chattr chcon chgrp chmod chown chpasswd chroot chrt cksum clear cmp
column comm cp cpio cpupower crontab csplit curl cut date dbus-send dc dd debconf-set-selections deluser depmod df
diff dig dir dircolors dirname dmesg dmidecode dnf dos2unix dpkg du dumpe2fs ed egrep eject env envsubst ethtool
expand expr factor fallocate fdisk fgrep file find findmnt firewall-cmd flock fmt fold free fsck fstrim ftp fuser
fusermount gawk gdebi getconf getent getfacl getopt gpasswd gpg gpg2 grep groupadd groups grub-mkconfig gsettings gtar
gunzip gzip halt hashdeep head hexdump host hostid hostname hostnamectl htop hwclock iconv id ifconfig inotifywait
insmod install ionice iostat ip ipcs iperf iperf3 ipmitool iptables iwconfig journalctl jq join killall last ldconfig
ldd less lftp link ln loadkeys locale locale-gen localectl logger loginctl logname logrotate logsave look losetup ls
lsattr lsb_release lsblk lscpu lsmod lsof lspci lsusb lvs lz4 m4 mail man mawk md5 md5sum mesg mkdir mkfifo mkfs mknod
mkswap mktemp modinfo modprobe more mount mountpoint mutt mv nawk nc ncat netstat newgrp nft ngrep nice nl nm nmap
nohup nproc nslookup nsenter numactl numfmt objdump od openssl pacman parallel parted passwd paste patch pgrep pidof
pidstat ping pinky pip pipx pkexec pkg pkill pmap poweroff pr printenv ps pstree ptx pv rclone readelf readlink reboot
rename renice reset rev rm rmdir rmmod rpm rsync runuser sar scp screen script scriptreplay sdiff sed seq service
setcap setfacl setpriv setsid sftp sg sha1sum sha256sum sha512sum shasum shred shuf shutdown sleep slabtop smartctl
snap socat sort split ss ssh ssh-add ssh-agent ssh-copy-id ssh-keygen ssh-keyscan sshfs sshpass stat stdbuf strace
strings strip stty su sudo doas sum swapoff swapon sync sysctl systemctl systemd-run tac tail tar taskset tee telnet
timedatectl timeout tmux top touch tput tr tree truncate tsort tty tune2fs ufw umount uname unbuffer unexpand uniq
unlink unlzma unshare unxz unzip update-alternatives update-ca-certificates updatedb uptime useradd userdel usermod
users utmpdump uuidgen vi vim nano visudo vmstat w wall watch wc wget whereis which who whoami whatis winpty xargs
xauth xclip xdg-open xdpyinfo xhost xrandr xset xvfb-run Xvfb xxd xz xzcat yes yq yum zcat zgrep zip zfs zpool zstd
zypper
"""
_TOOLS = """
7z accelerate act aim airflow alembic ansible ansible-galaxy ansible-playbook ant apptainer argo aria2c autoconf
automake aws az b2 bandit bash bats bazel bazelisk bitsadmin black bower brew bsub buildah bun bundle bundler bunzip2
bzr c++ cargo cc ccache choco clang clang-format clearml cmake cmd code codespell colima composer conan conda conftest
cookiecutter coverage cpack crane cromwell csh ctest ctr cuda-gdb cuda-memcheck curlie cvs cwltool dash dasel dask
datalad deepspeed deno devcontainer direnv django-admin doctl docker-compose docker-machine dockerd dockerize dotnet
doxygen dvc echo eksctl emacs entr enroot espeak esptool expect fastboot ffmpeg ffprobe fish flake8 flask flutter fzf
g++ gcc gcloud gcsfuse gdal gdb gem gh git git-lfs gitlab-runner glab glow gmake gnuplot go gofmt gradle gradlew
grpcurl gsutil gunicorn hadolint helm hg horovodrun huggingface-cli hf hub hatch hydra identify influx invoke isort
istioctl jar java javac jekyll jenkins jest jupyter just jwt k3d k3s k6 k9s kaggle kind kinit ksh kubectl kubeadm
kubens kubectx kustomize ld lima limactl lit lldb llc locust lxc lxd machinectl magick mail mamba maturin mc meson
micromamba microk8s minikube minio mise mkdocs mlflow mongo mongosh mpiexec mpirun multipass mutagen mvn mypy mysql
mysqladmin mysqldump nc ncdu ncu nextflow nginx ninja nix nix-build nix-shell node nodemon nomad nox npm npx nsys nvcc
nvidia-smi nvim nvitop nvtop oc ollama op open opa openstack optuna osascript packer pandoc pdm pdsh perl php pip3
pipenv playwright plutil pm2 pnpm podman-compose poetry portaudit pre-commit prlimit prefect prettier protoc pry psql
pscp pulumi pwsh powershell py pyenv pylint pyright pytest python qemu-img qemu-system-x86_64 qstat qsub qdel r2 rake
ray rails rbenv redis-cli redis-server regctl rg rocm-smi rocminfo amd-smi rostopic roslaunch rosrun ros2 colcon
catkin_make rosdep rospack rsyslogd ruby ruff rustc rustup rye s3cmd s5cmd sacct salloc sbatch sbt scala scancel scons
scontrol sh shellcheck shfmt sinfo singularity skaffold skopeo snakemake sops spack spark-submit sphinx-build sqlite3
squeue srun sshd stack stern strip supervisorctl supervisord svn swift tailscale task terraform terragrunt tmuxinator
toilet torchrun tox trivy trtexec tritonserver tsc tensorboard udevadm unittest uv uvicorn uvx vagrant vault vcs
velero virsh virtualenv vllm wandb watchexec watchman wrk wsl xdotool xelatex yarn zsh
"""

_NAMES = frozenset(f"{_SHELL} {_SYSTEM} {_TOOLS}".split()) | TALKERS | frozenset(ENGINES)
_FAMILY = re.compile(
    r"(?:python|pip|perl|ruby|lua|node|gcc|g\+\+|clang|java|php|llvm|cuda|nvidia-|docker-|podman-|apt-|dpkg-|systemd-|git-"
    r"|ip6?tables-|mkfs\.|kube|xdg-|x86_64-|aarch64-)[\w.+-]*"
)
_FILE = re.compile(r".*\.(?:sh|bash|zsh|fish|py|pl|rb|js|exe|bat|cmd|ps1|run|bin|out|AppImage)")
_TALK = re.compile(
    r"(?i)(?:log|echo|msg|message|info|warn|warning|err|error|debug|die|fail|fatal|success|notice|usage|say|banner|header)"
    r"(?:[_-](?:log|msg|message|info|warn|warning|err|error|debug|success|ok|line|step|header|fatal|exit|green|red))*"
    r"|(?:print|show)[_-](?:log|msg|message|info|warn|warning|error|success|help|usage|banner|header|line)"
)
"""Functions that print their arguments: what is called so sets nothing."""
_NAME = re.compile(r"[^\W\d][\w.:+@-]*")


def may_be_function(name: str) -> bool:
    """Whether a command may be a function of another file, by its name: not a program, nor a command of the shell."""
    if name in _NAMES or _NAME.fullmatch(name) is None:
        return False
    return not any(known.fullmatch(name) for known in (_FAMILY, _FILE, _TALK))
