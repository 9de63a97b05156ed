// What a method notes as its last match, see the compiler's rewriter Matches. What it has called may have matched in its own course, and
// not for the caller: that is so where a String, a Symbol or a Regexp was called, and, if there is a pattern, that is a Regexp.
(function(Opal) {
  Opal.matched = function(receiver, pattern, before) {
    var matches = receiver instanceof RegExp || (receiver != null && receiver.$$is_string && (pattern === null || pattern instanceof RegExp));
    return matches ? last() : before;
  };

  // Of `case text in /(a)/`; what else is called for a pattern notes nothing.
  Opal.matched_in_pattern = (before) => Opal.pattern_match === undefined ? before : Opal.pattern_match;

  Opal.last_match = last;

  function last() {
    var match = Opal.gvars['~'];
    return match == null ? Opal.nil : match;
  }
})(Opal);
