# backtick_javascript: true
# frozen_string_literal: true

# IP addresses of hosts and networks.
class IPAddr
  Error = Class.new(ArgumentError)
  InvalidAddressError = Class.new(Error)
  AddressFamilyError = Class.new(Error)
  InvalidPrefixError = Class.new(InvalidAddressError)

  attr_reader :prefix

  def initialize(text)
    @text, prefix = text.to_s.split("/", 2)
    raise InvalidAddressError, "invalid address: #{text}" unless @text

    @text = @text[1..-2] if @text.start_with?("[")
    @family = `require('node:net').isIP(#{@text})`
    raise InvalidAddressError, "invalid address: #{text}" if @family == 0

    @prefix = prefix ? length_of(prefix, text) : bits
    @number = masked(`#{number_of(@text)}`)
  end

  def ipv4?
    @family == 4
  end

  def ipv6?
    @family == 6
  end

  def include?(other)
    other = IPAddr.new(other) unless other.is_a?(IPAddr)
    other.ipv4? == ipv4? && `#{masked(other.number)} === #{@number}`
  end

  alias === include?

  def ==(other)
    other = IPAddr.new(other) unless other.is_a?(IPAddr)
    other.ipv4? == ipv4? && other.prefix == prefix && `#{other.number} === #{@number}`
  rescue Error
    false
  end

  alias eql? ==

  def loopback?
    ipv4? ? IPAddr.new("127.0.0.0/8").include?(self) : @text == "::1"
  end

  def private?
    nets = ipv4? ? %w[10.0.0.0/8 172.16.0.0/12 192.168.0.0/16] : %w[fc00::/7]
    nets.any? { |net| IPAddr.new(net).include?(self) }
  end

  def hash
    [to_s, prefix].hash
  end

  def to_i
    `Number(#{@number})`
  end

  def to_s
    @text
  end

  def inspect
    "#<IPAddr: #{ipv4? ? "IPv4" : "IPv6"}:#{@text}/#{@prefix}>"
  end

  protected

  attr_reader :number

  private

  def bits
    ipv4? ? 32 : 128
  end

  def length_of(prefix, text)
    return prefix.to_i if prefix.match?(/\A\d+\z/) && prefix.to_i <= bits
    raise InvalidPrefixError, "invalid length: #{text}" unless ipv4? && `require('node:net').isIPv4(prefix)`

    `#{number_of(prefix)}.toString(2)`.count("1")
  end

  def masked(number)
    `number >> BigInt(#{bits - @prefix}) << BigInt(#{bits - @prefix})`
  end

  def number_of(text)
    return `text.split('.').reduce((all, part) => all * 256n + BigInt(part), 0n)` unless text.include?(":")

    text = text.split("%").first
    head, tail = text.split("::", 2).map { |half| groups_of(half) }
    groups = tail ? head + Array.new(8 - head.size - tail.size, 0) + tail : head
    `groups.reduce((all, part) => all * 65536n + BigInt(part), 0n)`
  end

  def groups_of(half)
    half.split(":").flat_map do |group|
      next [group.hex] unless group.include?(".")

      bytes = group.split(".").map(&:to_i)
      [(bytes[0] * 256) + bytes[1], (bytes[2] * 256) + bytes[3]]
    end
  end
end
