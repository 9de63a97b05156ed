# backtick_javascript: true
# frozen_string_literal: true

require "upwell/ear"
require "upwell/glob"
require "upwell/pub_sub"
require "upwell/publication"

module Upwell
  # Publish and subscribe within this process. Who wants what is published in a channel, by its name or by a pattern of names, gets it while it
  # is published, in the order of subscribing.
  #
  # A subscriber has `topic`, `match` and `deliver(publication)`, which returns whether it takes the message.
  class Channels
    PATTERNS_MAX = 1024 # different ones: each is compared with every name

    # @param channel [String] or pattern
    # @param match [Symbol, nil]
    # @return [JavaScript String] a code unit for each byte
    # @raise [ArgumentError]
    def self.topic(channel, match)
      raise ArgumentError, "match must be nil or :redis, not #{match.inspect}" unless match.nil? || match == :redis

      topic = `Opal.to_latin1(channel)`
      return topic if topic.size <= (match ? PubSub::PATTERN_BYTES_MAX : PubSub::CHANNEL_BYTES_MAX)

      raise ArgumentError, "a channel's name has at most #{PubSub::CHANNEL_BYTES_MAX} bytes, a pattern #{PubSub::PATTERN_BYTES_MAX}"
    end

    def initialize
      @named = `new Map()` # Sets of subscribers by their topic
      @patterns = `new Map()`
      @published = @delivered = @dropped = 0
    end

    # From now on what is published in this process arrives here.
    def begin
      PubSub.delivery = method(:deliver)
      PubSub::CLUSTER.counts = method(:counts)
      PubSub.listeners.begin(self)
    end

    # @param subscriber [#topic, #match, #deliver]
    # @raise [Upwell::Error] for one pattern too many
    def add(subscriber)
      topics = topics_of(subscriber)
      topic = subscriber.topic
      begin_topic(topics, topic, subscriber.match) unless `topics.has(topic)`
      `topics.get(topic).add(subscriber)`
    end

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

    # For {PubSub::Listeners}.
    #
    # @return [Ear, nil] nil: there are too many patterns, as the log tells
    def listen_to(name, match, callable)
      Ear.new(Channels.topic(name, match), match, callable).tap { |ear| add(ear) }
    rescue Error => e
      ErrorLog.report(e, nil)
      nil
    end

    # @param ear [Ear]
    def unlisten(ear)
      remove(ear)
      ear.end
    end

    # @param channel [String]
    # @param message [String]
    # @return [true]
    # @raise [ArgumentError] for a text that is not valid, or too long a name
    def deliver(channel, message)
      publish(Publication.new(Channels.topic(channel, nil), Text.checked(message)))
      true
    end

    # @param publication [Publication]
    def publish(publication)
      @published += 1
      %x{
        const name = publication.name, subscribers = self.named.get(name);

        if (subscribers !== undefined) subscribers.forEach(subscriber => #{tell(`subscriber`, publication)});
        self.patterns.forEach(subscribers => {
          if (subscribers.glob['$match?'](name)) subscribers.forEach(subscriber => #{tell(`subscriber`, publication)});
        });
      }
    end

    # @see PubSub::OwnCluster#stats
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
          subscribers.glob = #{Glob.new(topic)};
        }
        topics.set(topic, subscribers);
      }
      tell_engines(topic, match, true)
    end

    def refuse_pattern
      raise Error, "there are #{PATTERNS_MAX} patterns already"
    end

    def tell_engines(topic, match, subscribed)
      PubSub.engines.changed(Text.read(`Buffer.from(topic, "latin1")`), match, subscribed)
    end

    # What one of them cannot be told costs nobody else.
    def tell(subscriber, publication)
      subscriber.deliver(publication) ? @delivered += 1 : @dropped += 1
    rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own
      ErrorLog.report(e, nil)
    end
  end
end
