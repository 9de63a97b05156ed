# frozen_string_literal: true

# What is remembered of a room. Each change has a number: whoever hears of two in the wrong order, or of one twice, can tell.
Room = Struct.new(:number, :messages, :guests) do
  def self.empty
    new(0, [], [])
  end

  # @return [Hash, nil] nil: it has been said already, by a page that has not heard of it and said it again
  def say(id, name, text)
    return if messages.any? { |message| message[:id] == id }

    message = { number: advance, id: id, name: name, text: text, at: Time.now.to_i }
    messages.push(message).shift([messages.size - self.class::MESSAGES_MAX, 0].max)
    message
  end

  def arrive(id, name)
    forget_the_lost
    advance
    guests << { id: id, name: name, worker: Process.pid }
  end

  def leave(id)
    forget_the_lost
    advance
    guests.reject! { |guest| guest[:id] == id }
  end

  def names
    guests.map { |guest| guest[:name] }.sort
  end

  def deserted?
    forget_the_lost
    guests.empty?
  end

  private

  def advance
    self.number += 1
  end

  # A worker that was killed has not said that its guests have left.
  def forget_the_lost
    guests.select! { |guest| alive?(guest[:worker]) }
  end

  # Another user's process has the number by now: the worker has gone, too.
  def alive?(pid)
    Process.kill(0, pid)
  rescue Errno::ESRCH, Errno::EPERM
    false
  end
end

Room::MESSAGES_MAX = 50
