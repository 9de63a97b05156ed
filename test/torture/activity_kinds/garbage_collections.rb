# frozen_string_literal: true

module Torture
  module ActivityKinds
    # The collector, at the worst moments.
    module GarbageCollections
      STRESS = 0.02 # seconds
      MINOR = 1 # what GC.stress= takes: no major collections, which take long

      # In each allocation of whatever runs meanwhile.
      def stress
        own_thread do
          GC.stress = MINOR
          sleep(STRESS)
        ensure
          GC.stress = false
        end
        transfer(*own(*IO.pipe(binmode: true)), 3000)
      end

      def collect
        GC.start
        nap
      end

      def compact
        GC.compact if GC.respond_to?(:compact)
        nap
      end
    end
  end
end
