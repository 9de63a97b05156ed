import { readFileSync } from "node:fs";

const { groups, decisions } = JSON.parse(readFileSync(new URL("../pages.json", import.meta.url)));
const listed = [...Object.values(groups).flatMap((parts) => Object.values(parts).flat()), ...decisions];
const pageAt = new Map(listed.map((page) => [page.link.slice(1), page]));

// The list of decisions is under the page of the same name, folded.
function entry(page) {
  return page.link === "/docs/decisions/index.md" ? { ...page, items: decisions, collapsed: true } : page;
}

const sidebar = Object.entries(groups).map(([text, parts]) => ({
  text,
  items: Object.entries(parts).flatMap(([part, pages]) => (part ? { text: part, items: pages.map(entry) } : pages.map(entry))),
}));

export default {
  title: "Upwell",
  srcDir: "pages",
  srcExclude: ["public/**"],
  outDir: "../site",
  ignoreDeadLinks: "localhostLinks",
  head: [["link", { rel: "icon", href: "data:," }]],
  vite: { build: { chunkSizeWarningLimit: 2000 } }, // kB; pages of code are large
  transformPageData: (data) => ({ description: pageAt.get(data.relativePath)?.description }),
  markdown: {
    // Anchors as GitHub makes them.
    anchor: { slugify: (title) => title.trim().toLowerCase().replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "").replaceAll(" ", "-") },
    // Indented code looks and scrolls as fenced code does.
    config: (md) => { md.renderer.rules.code_block = (...code) => md.renderer.rules.fence(...code); },
  },
  themeConfig: {
    sidebar,
    outline: "deep",
    nav: Object.entries(groups).map(([text, parts]) => ({ text, link: Object.values(parts)[0][0].link })),
    search: {
      provider: "local",
      options: {
        // The index has the listed pages only. Each page begins with an entry of its words in the list.
        _render(source, env, md) {
          const page = pageAt.get(env.relativePath);
          if (!page) return "";

          const words = md.renderInline([page.text, page.description].filter(Boolean).join(": "));
          return `<h1>${words}<a href="#"></a></h1>\n${md.render(source, env)}`;
        },
        // These entries count more than sections, decisions less.
        miniSearch: {
          searchOptions: {
            weights: { fuzzy: 0.1, prefix: 0.6 },
            boostDocument: (id) => (id.includes("/decisions/") ? 0.5 : id.includes("#") ? 1 : 3),
          },
        },
      },
    },
  },
};
