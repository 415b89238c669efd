/*
 * icons.mjs - draws packaging/icons/NAME.png, of which bundles have a copy, from the icons of the
 * servers, by the Chromium of the tests. To be run when a drawing has changed.
 * usage: node packaging/icons.mjs
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { servers, top } from "./project.mjs";

const PIXELS = 512; // as hosts of bundles want it

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: PIXELS, height: PIXELS } });
for (const { name } of servers) {
  const drawing = readFileSync(join(top, "servers", name, "web", "icon.svg"), "utf8");
  await page.setContent(`<style>body { margin: 0 } svg { display: block; width: ${PIXELS}px; height: ${PIXELS}px }</style>${drawing}`);
  writeFileSync(join(top, "packaging", "icons", `${name}.png`), await page.screenshot({ omitBackground: true }));
}
await browser.close();
