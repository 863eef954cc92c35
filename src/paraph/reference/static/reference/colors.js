// Colours in samples, as highlights of the browser's own: the text stays one piece for selection and screen readers.

const patterns = {
  key: /"(?:[^"\\]|\\.)*"(?=\s*:)/g,
  string: /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g,
  number: /(?<![\w.:/-])\d+(?:\.\d+)?\b(?!\.)/g,
  word: /\b(?:const|let|function|return|await|async|for|of|in|if|import|from|export|def|try|except|class|new|throw|print|with|as|true|false|null|True|False|None)\b/g,
  comment: /(?:^|\s)(?:#|\/\/) .*$/gm,
};
const order = ["number", "word", "string", "key", "comment"]; // the later, the stronger

function mark(code) {
  const text = code.firstChild;
  if (text?.nodeType !== Node.TEXT_NODE) return;
  for (const name of order) {
    for (const { index, 0: found } of text.data.matchAll(patterns[name])) {
      const range = new StaticRange({
        startContainer: text, startOffset: index, endContainer: text, endOffset: index + found.length,
      });
      CSS.highlights.get(name).add(range);
    }
  }
}

if (CSS.highlights) {
  for (const [priority, name] of order.entries()) {
    const highlight = new Highlight();
    highlight.priority = priority;
    CSS.highlights.set(name, highlight);
  }
  const seen = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        seen.unobserve(target);
        mark(target);
      }
    },
    { rootMargin: "400px" },
  );
  for (const code of document.querySelectorAll(".code pre code")) seen.observe(code);
}
