# frozen_string_literal: true

# rubocop:disable Style/PerlBackrefs, Style/SpecialGlobalVars -- that is what is tested

# What is matched in a file that uses a refinement.
module Louder
  refine String do
    def louder
      "#{upcase}!"
    end
  end
end

using Louder

def first_letter(text)
  return unless text =~ /(\w)/

  $1
end

p first_letter("ab"), first_letter("--")
p "ab".louder
p "x1".sub(/(\d)/) { $1.louder }
pair = "key=value"
case pair
when /(\w+)=(\w+)/ then p [$1, $2, $~[0]]
end
# rubocop:enable Style/PerlBackrefs, Style/SpecialGlobalVars
