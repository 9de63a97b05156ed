# frozen_string_literal: true

require "fileutils"
require "open3"
require "shellwords"

# A virtual machine with one processor and Debian's kernel, of which this machine's files are the root, read-only. It runs one command, and
# what that prints is printed here. Needed: qemu-system-x86, busybox-static, cpio, kmod (all Debian's).
class VirtualMachine
  ROOT = File.expand_path("../..", __dir__)
  FOLDER = File.join(ROOT, "build", "kernel_tls")
  UNPACKED = File.join(FOLDER, "kernel")
  MODULES = %w[virtio_pci 9pnet_virtio 9p tls gcm ctr aesni_intel ghash_clmulni_intel chacha20poly1305 chacha_x86_64 poly1305_x86_64].freeze
  MEMORY_MIB = 3072
  STATUS = /^upwell-machine: (\d+)\r?$/

  # @param command [Array<String>] run in ROOT, as root, with the loopback interface up
  # @param seconds [Integer] then it is switched off
  def initialize(command, seconds:)
    @command = command
    @seconds = seconds
  end

  # @return [Boolean] whether the command has succeeded
  def run
    FileUtils.mkdir_p(FOLDER)
    fetch_kernel unless kernel
    write_initramfs
    status = nil
    IO.popen(emulator, err: %i[child out]) do |output|
      output.each_line { |line| (match = line.match(STATUS)) ? status = match[1].to_i : puts(line.chomp) }
    end
    status&.zero? || false
  end

  private

  def kernel
    Dir[File.join(UNPACKED, "boot", "vmlinuz-*")].first
  end

  def version
    File.basename(kernel).delete_prefix("vmlinuz-")
  end

  # It is unpacked, and not installed.
  def fetch_kernel
    package = capture("apt-cache", "depends", "linux-image-amd64")[/linux-image-[\d.]+-\S+/]
    capture("apt-get", "download", package, chdir: FOLDER)
    capture("dpkg-deb", "-x", Dir[File.join(FOLDER, "linux-image-*.deb")].first, UNPACKED)
    capture("/sbin/depmod", "-b", UNPACKED, version)
  end

  # @return [Array<String>] the files of the modules, each behind those that it needs
  def modules
    MODULES.flat_map do |name|
      lines = capture("/sbin/modprobe", "-d", UNPACKED, "-S", version, "--show-depends", name).lines
      lines.filter_map { |line| line[/^insmod (\S+)/, 1] }
    end.uniq
  end

  def write_initramfs
    folder = File.join(FOLDER, "initramfs")
    FileUtils.rm_rf(folder)
    FileUtils.mkdir_p(%w[bin modules proc sys dev host].map { |name| File.join(folder, name) })
    FileUtils.cp("/bin/busybox", File.join(folder, "bin"))
    paths = modules
    FileUtils.cp(paths, File.join(folder, "modules"))
    File.write(File.join(folder, "init"), init(paths.map { |path| File.basename(path) }), perm: 0o755)
    File.binwrite(initramfs, Dir.chdir(folder) { capture("cpio", "-o", "-H", "newc", "--quiet", stdin_data: Dir["**/*"].join("\n")) })
  end

  def initramfs
    File.join(FOLDER, "initramfs.cpio")
  end

  # The tree may lie below /tmp, which is another one there.
  def init(modules)
    <<~SH
      #!/bin/busybox sh
      set -e
      trap '/bin/busybox poweroff -f' EXIT
      for name in mount insmod mkdir ip chroot poweroff; do alias $name="/bin/busybox $name"; done
      mount -t proc proc /proc
      mount -t sysfs sys /sys
      mount -t devtmpfs dev /dev
      for module in #{modules.join(" ")}; do insmod /modules/$module; done
      mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=262144,cache=loose root /host
      mount -o bind /host#{ROOT} /host/mnt
      for folder in tmp run var/tmp dev/shm; do mount -t tmpfs tmpfs /host/$folder; done
      mkdir -p /host#{ROOT}
      mount -o bind /host/mnt /host#{ROOT}
      for folder in proc sys dev; do mount -o bind /$folder /host/$folder; done
      ip link set lo up
      status=0
      chroot /host /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin:/sbin HOME=/tmp LANG=C.UTF-8 \
        /bin/sh -c #{"cd #{ROOT.shellescape} && exec #{@command.shelljoin}".shellescape} < /dev/null || status=$?
      echo "upwell-machine: $status"
    SH
  end

  # Emulated, for a processor within a virtual machine may lack what another one in it would need.
  def emulator
    ["timeout", @seconds.to_s, "nice", "-n", "10",
     "qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", MEMORY_MIB.to_s, "-no-reboot", "-display", "none",
     "-serial", "stdio", "-monitor", "none", "-nic", "none", "-kernel", kernel, "-initrd", initramfs,
     "-append", "console=ttyS0 quiet panic=-1", "-virtfs", "local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap"]
  end

  def capture(*command, **options)
    output, status = Open3.capture2(*command, binmode: true, **options)
    abort "kernel_tls: #{command.first} failed" unless status.success?
    output
  end
end
