// Stores the last match of a method, for the compiler's rewriter Matches. Only a call of a String, Symbol or Regexp, whose pattern (if any)
// is a Regexp, sets the caller's match. Other methods may have matched only for themselves.
(function(Opal) {
  Opal.matched = function(receiver, pattern, before) {
    var matches = receiver instanceof RegExp || (receiver != null && receiver.$$is_string && (pattern === null || pattern instanceof RegExp));
    return matches ? last() : before;
  };

  // Handles `case text in /(a)/`. Other patterns leave the match unchanged.
  Opal.matched_in_pattern = (before) => Opal.pattern_match === undefined ? before : Opal.pattern_match;

  Opal.last_match = last;

  function last() {
    var match = Opal.gvars['~'];
    return match == null ? Opal.nil : match;
  }
})(Opal);
