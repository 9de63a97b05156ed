# frozen_string_literal: true

require_relative "network_namespace"

# One machine that is a switch, too, and around it others with a cable to it each.
class SimulatedNetwork
  MIDDLE = "10.77.0.1" # the machine in the middle

  # @return [Boolean] whether the program is installed that makes one
  def self.there?
    system("ip", "-Version", %i[out err] => File::NULL) == true
  end

  # @yieldparam network [SimulatedNetwork]
  def self.open(*names)
    network = new(names)
    yield network
  ensure
    network&.close
  end

  # @return [NetworkNamespace]
  attr_reader :middle

  # @param names [Array<String>] of the machines around
  def initialize(names)
    @middle = NetworkNamespace.new
    @middle.ip("link add switch type bridge")
    @middle.ip("address add #{MIDDLE}/24 dev switch")
    @middle.ip("link set switch up")
    @machines = names.to_h { |name| [name, NetworkNamespace.new] }
    @machines.each_with_index { |(name, machine), index| connect(name, machine, MIDDLE.sub(/1\z/, (index + 2).to_s)) }
  end

  # @return [NetworkNamespace]
  def [](name)
    @machines.fetch(name)
  end

  # Both ends notice that the cable is of no use.
  def unplug(name)
    @middle.ip("link set #{name} down")
  end

  def plug(name)
    @middle.ip("link set #{name} up")
  end

  # Nobody notices: what is sent does not arrive, either way.
  def swallow(name)
    @middle.ip("link set #{name} nomaster")
  end

  def forward(name)
    @middle.ip("link set #{name} master switch")
  end

  def close
    [@middle, *@machines.values].each(&:close)
  end

  private

  # The switch names its port after the machine.
  def connect(name, machine, address)
    @middle.ip("link add #{name} type veth peer name cable netns #{machine.path}")
    @middle.ip("link set #{name} up")
    forward(name)
    machine.ip("address add #{address}/24 dev cable")
    machine.ip("link set cable up")
    machine.ip("link set lo up")
  end
end
