// Searches the built site's index as its search box does. Fails if a word does not find its page first.
import { readFileSync, readdirSync } from "node:fs";
import MiniSearch from "minisearch";
import config from "./.vitepress/config.mjs";

const PAGES = {
  "systemd": "docs/guide/systemd", "phased restart": "docs/guide/signals", "signals": "docs/guide/signals",
  "websocket": "docs/guide/websockets", "pub sub": "docs/guide/publish_subscribe", "redis": "docs/guide/publish_subscribe",
  "tls": "docs/guide/tls", "certificate": "docs/guide/tls", "https": "docs/guide/tls", "nginx": "docs/guide/nginx",
  "docker": "docs/guide/containers", "threads": "docs/guide/modes", "fibers": "docs/guide/modes", "rails": "docs/guide/rails",
  "sinatra": "docs/reference/applications", "static files": "docs/guide/static", "timeout": "docs/reference/limits",
  "upload limit": "docs/reference/limits", "node": "docs/guide/javascript_runtimes", "bun": "docs/guide/javascript_runtimes",
  "io_uring": "docs/reference/backends", "benchmark": "bench/", "action cable": "docs/guide/action_cable", "sse": "docs/guide/server_sent_events",
  "workers": "docs/guide/deployment", "hijack": "docs/reference/rack", "macos": "docs/reference/platforms", "install": "docs/start", "epoll": "docs/reference/backends", "hanami": "docs/reference/applications", "postgres": "docs/reference/libraries",
  "puma": "docs/guide/from_puma", "falcon": "docs/guide/from_falcon", "iodine": "docs/guide/from_iodine", "capybara": "docs/guide/embedding",
  "reverse proxy": "docs/guide/nginx", "heartbeat": "docs/guide/deployment", "async": "docs/guide/async", "error": "docs/reference/troubleshooting",
};

const chunks = new URL("../site/assets/chunks/", import.meta.url);
const [file] = readdirSync(chunks).filter((name) => name.startsWith("@localSearchIndex"));
const { default: json } = await import(`data:text/javascript,${encodeURIComponent(readFileSync(new URL(file, chunks)))}`);
const { miniSearch } = config.themeConfig.search.options;
const index = MiniSearch.loadJSON(json, {
  fields: ["title", "titles", "text"],
  storeFields: ["title", "titles"],
  searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 }, ...miniSearch.searchOptions }, // as VitePress has them
});

const wrong = Object.entries(PAGES).map(([words, page]) => [words, page, index.search(words)[0]?.id])
  .filter(([, page, id]) => id?.replace(/(\.html)?(#.*)?$/, "") !== `/${page}`);
wrong.forEach(([words, page, id]) => console.error(`search for ${words}: ${id} is before ${page}`));
console.log(`${Object.keys(PAGES).length - wrong.length} of ${Object.keys(PAGES).length} searches find their page first`);
process.exit(wrong.length ? 1 : 0);
