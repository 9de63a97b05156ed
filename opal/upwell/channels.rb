# backtick_javascript: true
# frozen_string_literal: true

require "upwell/block_subscriber"
require "upwell/channel_pattern"
require "upwell/pub_sub"
require "upwell/publication"

module Upwell
  # Publish/subscribe within this process. Subscribers of a channel, by name or by pattern, receive a message while it is published, in the order
  # of their subscriptions.
  #
  # A subscriber has `topic`, `match` and `deliver(publication)`, which returns whether it accepts the message.
  class Channels
    PATTERNS_MAX = 1024 # different patterns, each of which is compared with every name

    # Checks and converts a name.
    #
    # @param channel [String] or pattern
    # @param match [Symbol, nil]
    # @return [JavaScript String] a code unit for each byte
    # @raise [ArgumentError] for another `match`, or a name that is too long
    def self.topic(channel, match)
      raise ArgumentError, "match must be nil or :redis, not #{match.inspect}" unless match.nil? || match == :redis

      topic = `Opal.to_latin1(channel)`
      kind, most = match ? ["pattern", PubSub::PATTERN_BYTES_MAX] : ["channel", PubSub::CHANNEL_BYTES_MAX]
      return topic if topic.size <= most

      raise ArgumentError, "the name of the #{kind} has #{topic.size} bytes; use at most #{most}"
    end

    def initialize
      @named = `new Map()` # sets of subscribers by topic
      @patterns = `new Map()`
      @published = @delivered = @dropped = 0
    end

    # Connects this object to PubSub: messages published in this process arrive here.
    def begin
      PubSub.delivery = method(:deliver)
      PubSub::CLUSTER.counts = method(:counts)
      PubSub.listeners.begin(self)
    end

    # Adds a subscriber.
    #
    # @param subscriber [#topic, #match, #deliver]
    # @raise [Upwell::Error] when there are too many patterns
    def add(subscriber)
      topics = topics_of(subscriber)
      topic = subscriber.topic
      begin_topic(topics, topic, subscriber.match) unless `topics.has(topic)`
      `topics.get(topic).add(subscriber)`
    end

    # Removes a subscriber.
    #
    # @param subscriber [#topic, #match]
    def remove(subscriber)
      topics = topics_of(subscriber)
      topic = subscriber.topic
      %x{
        const others = topics.get(topic);

        if (others === undefined || !others.delete(subscriber) || others.size > 0) return;
        topics.delete(topic);
      }
      tell_engines(topic, subscriber.match, false)
    end

    # Adds a subscription of {PubSub::Listeners}.
    #
    # @return [BlockSubscriber, nil] nil: there are too many patterns, and the log says so
    def listen_to(name, match, callable)
      BlockSubscriber.new(Channels.topic(name, match), match, callable).tap { |subscriber| add(subscriber) }
    rescue Error => e
      ExceptionLog.report(e, nil)
      nil
    end

    # Removes a subscription of {PubSub::Listeners}.
    #
    # @param subscriber [BlockSubscriber]
    def unlisten(subscriber)
      remove(subscriber)
      subscriber.end
    end

    # Delivers a message to the subscribers of this process.
    #
    # @param channel [String]
    # @param message [String]
    # @return [true]
    # @raise [ArgumentError] for an invalid text, or a name that is too long
    def deliver(channel, message)
      publish(Publication.new(Channels.topic(channel, nil), MessageText.checked(message)))
      true
    end

    # Passes a publication to its subscribers.
    #
    # @param publication [Publication]
    def publish(publication)
      @published += 1
      %x{
        const name = publication.name, subscribers = self.named.get(name);

        if (subscribers !== undefined) subscribers.forEach(subscriber => #{tell(`subscriber`, publication)});
        self.patterns.forEach(subscribers => {
          if (subscribers.pattern['$match?'](name)) subscribers.forEach(subscriber => #{tell(`subscriber`, publication)});
        });
      }
    end

    # @see PubSub::ClusterEngine#stats
    def counts
      %x{
        let subscribers = 0;

        self.named.forEach(set => subscribers += set.size);
        self.patterns.forEach(set => subscribers += set.size);
      }
      { published: @published, delivered: @delivered, dropped: @dropped, channels: `self.named.size`, patterns: `self.patterns.size`,
        subscribers: `subscribers` }
    end

    private

    def topics_of(subscriber)
      subscriber.match ? @patterns : @named
    end

    def begin_topic(topics, topic, match)
      %x{
        const subscribers = new Set();

        if (match !== nil) {
          if (topics.size >= #{PATTERNS_MAX}) #{refuse_pattern};
          subscribers.pattern = #{ChannelPattern.new(topic)};
        }
        topics.set(topic, subscribers);
      }
      tell_engines(topic, match, true)
    end

    def refuse_pattern
      raise Error, "this process already has #{PATTERNS_MAX} patterns, the maximum; unsubscribe from one first"
    end

    def tell_engines(topic, match, subscribed)
      PubSub.engines.changed(MessageText.read(`Buffer.from(topic, "latin1")`), match, subscribed)
    end

    # One subscriber's error does not affect the others.
    def tell(subscriber, publication)
      subscriber.deliver(publication) ? @delivered += 1 : @dropped += 1
    rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own
      ExceptionLog.report(e, nil)
    end
  end
end
