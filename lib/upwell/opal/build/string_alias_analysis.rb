# frozen_string_literal: true

module Upwell
  module Opal
    class Build
      # Finds two variables of a method that hold the same string (`copy = text`), neither of which is assigned again. If one is changed in place
      # and the other is read afterwards, the other would still have the old string.
      class StringAliasAnalysis
        SCOPES = %i[top def defs class module sclass].freeze
        BRANCHES = %i[if case].freeze
        Place = Struct.new(:node, :number, :branches)

        # Finds the calls that change such a string.
        #
        # @param file [Opal::AST::Node]
        # @param names [Array<Symbol>] methods that change a string in place
        # @return [Hash{Opal::AST::Node => true}] the calls, by identity
        def self.changes(file, names)
          found = {}.compare_by_identity
          scopes(file) { |scope| new(scope, names).changes.each { |call| found[call] = true } }
          found
        end

        def self.scopes(node, &block)
          return node.each { |one| scopes(one, &block) } if node.is_a?(Array)
          return unless node.is_a?(::Parser::AST::Node)

          yield node if SCOPES.include?(node.type)
          node.children.each { |child| scopes(child, &block) }
        end
        private_class_method :scopes

        # @param scope [Opal::AST::Node] a method, the body of a class, or a file
        # @param names [Array<Symbol>]
        def initialize(scope, names)
          @names = names
          @values, @reads, @changes = Array.new(3) { Hash.new { |all, name| all[name] = [] } }
          @number = 0
          scope.children.each { |child| visit(child, {}) }
        end

        # @return [Array<Opal::AST::Node>]
        def changes
          pairs.flat_map do |changed, other|
            @changes[changed].select { |change| @reads[other].any? { |read| follows?(read, change) } }.map(&:node)
          end
        end

        private

        def pairs
          @values.keys.flat_map do |copy|
            value, *others = @values[copy]
            next [] unless others.empty? && value.is_a?(::Parser::AST::Node) && value.type == :lvar

            text = value.children.first
            text == copy || (@values.key?(text) && @values[text].size > 1) ? [] : [[copy, text], [text, copy]]
          end
        end

        # Only one of the branches of an `if` runs.
        def follows?(read, change)
          read.number > change.number && read.branches.all? { |branch, index| change.branches.fetch(branch, index) == index }
        end

        def visit(node, branches)
          return node.each { |one| visit(one, branches) } if node.is_a?(Array)
          return if !node.is_a?(::Parser::AST::Node) || SCOPES.include?(node.type)

          node.children.each_with_index { |child, index| visit(child, within(node, index, branches)) }
          note(node, branches)
        end

        def within(node, index, branches)
          BRANCHES.include?(node.type) && index.positive? ? { **branches, node.object_id => index } : branches
        end

        # A call is numbered after its receiver and its arguments.
        def note(node, branches)
          place = Place.new(node, @number += 1, branches)
          name, method = *node
          case node.type
          when :lvasgn then @values[name] << node.children[1]
          when :lvar then @reads[name] << place
          when :send then note_change(place, name, method)
          end
        end

        def note_change(place, receiver, method)
          return unless @names.include?(method) && receiver.is_a?(::Parser::AST::Node) && receiver.type == :lvar

          @changes[receiver.children.first] << place
        end
      end
    end
  end
end
