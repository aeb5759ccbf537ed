import assert from 'node:assert/strict'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { anchorOf, replaceLinks } from './links.ts'
import { sidebar, type SidebarItem } from './sidebar.ts'
import { addressOf, allPages, root, siteGroups } from './site-pages.ts'
import { markdownFile, stageSite } from './stage.ts'
import { builtVersions, knownReleases } from './versions.ts'

describe('the list of pages', () => {
  it('has every page of docs/ exactly once; add a new page to site/pages.ts', () => {
    const listed = allPages().map(({ path }) => path)
    assert.deepEqual(
      listed.filter((path, index) => listed.indexOf(path) !== index),
      [],
    )
    const pages = globSync('docs/**/*.md', { cwd: root }).toSorted()
    assert.ok(pages.length > 150, `found only ${pages.length} pages`)
    assert.deepEqual(listed.filter((path) => path.startsWith('docs/')).toSorted(), pages)
  })

  it('gives every page an address of its own, and describes it', () => {
    const addresses = allPages().map(({ address }) => address)
    assert.equal(new Set(addresses).size, addresses.length)
    for (const { pages } of siteGroups()) {
      for (const { path, about } of pages) assert.match(about, /^[^\s].*[^.]$/, path)
    }
    assert.deepEqual(
      ['docs/README.md', 'docs/tls.md', 'docs/providers/README.md', 'CHANGELOG.md', 'bench/RESULTS.md'].map(addressOf),
      ['', 'tls', 'providers/', 'project/changelog', 'bench/RESULTS'],
    )
  })

  it('has a path of five pages for each kind of newcomer, each of which leads to the next', () => {
    const paths = siteGroups().filter(({ path }) => path !== null)
    assert.equal(paths.length, 3)
    for (const { title, pages } of paths) {
      assert.equal(pages.length, 5, title)
      for (const [index, { path }] of pages.slice(0, -1).entries()) {
        const links = new Set<string>()
        replaceLinks(readFileSync(join(root, path), 'utf8'), path, (text, target) => {
          links.add(target.path)
          return text
        })
        assert.ok(links.has(pages[index + 1]?.path ?? ''), `${path} does not lead to ${pages[index + 1]?.path}`)
      }
    }
  })

  it('leads newcomers to pages that show what to do at once', () => {
    const groups = siteGroups().filter(({ path, title }) => path !== null || title === 'Migrate')
    assert.equal(groups.length, 4)
    for (const { path } of groups.flatMap(({ pages }) => pages)) {
      const lines = readFileSync(join(root, path), 'utf8').split('\n')
      const first = lines.findIndex((line) => line.startsWith('```'))
      assert.ok(first >= 0 && first <= 10, `${path}: its first code block is in line ${first + 1}`)
    }
  })

  it('is the sidebar', () => {
    const linksOf = (items: readonly SidebarItem[]): string[] =>
      items.flatMap(({ link, items: below }) => [...(link === undefined ? [] : [link]), ...linksOf(below ?? [])])
    assert.deepEqual(
      linksOf(sidebar()),
      allPages()
        .slice(1)
        .map(({ address }) => `/${address}`),
    )
  })
})

describe('the staged site', () => {
  it('keeps every link between pages, and the heading that it names', (t) => {
    const folder = useFolder(t)
    const pages = stageSite({ folder, base: '/', sourceUrl: null, editUrl: null })
    const textByAddress = new Map(
      pages.map((page) => [page.address, readFileSync(join(folder, markdownFile(page)), 'utf8')]),
    )
    let found = 0
    for (const page of pages) {
      for (const [, address = '', heading] of linksIn(textByAddress.get(page.address) ?? '')) {
        if (address.startsWith('files/')) continue
        const target = textByAddress.get(address)
        assert.ok(target !== undefined, `${page.path}: /${address}`)
        if (heading !== undefined) assert.ok(anchorsOf(target).has(heading), `${page.path}: /${address}#${heading}`)
        found++
      }
    }
    assert.ok(found > 1_000, `found only ${found} links`)
  })

  it('links files outside of the site where it is told where they are, and names them otherwise', (t) => {
    const folder = useFolder(t)
    const stagePage = (sourceUrl: string | null, editUrl: string | null): string => {
      stageSite({ folder, base: '/', sourceUrl, editUrl })
      return readFileSync(join(folder, 'production.md'), 'utf8')
    }
    const plain = stagePage(null, null)
    assert.doesNotMatch(plain, /\]\(\.\.|editLink/)
    assert.match(plain, /\]\(\/files\/deploy\/prometheus\/alerts\.yaml\)/)
    const copied = readFileSync(join(folder, 'public/files/deploy/prometheus/alerts.yaml'), 'utf8')
    assert.equal(copied, readFileSync(join(root, 'deploy/prometheus/alerts.yaml'), 'utf8'))
    const linked = stagePage('https://code.example/blob/main', 'https://code.example/edit/main')
    assert.match(linked, /\]\(https:\/\/code\.example\/blob\/main\/deploy\//)
    assert.match(linked, /"editLink":"https:\/\/code\.example\/edit\/main\/docs\/production\.md"/)
  })

  it('has no double braces that VitePress would read as an expression', (t) => {
    const folder = useFolder(t)
    const pages = stageSite({ folder, base: '/', sourceUrl: null, editUrl: null })
    let kept = 0
    for (const page of pages) {
      const text = readFileSync(join(folder, markdownFile(page)), 'utf8').replaceAll(/^ *```[^]*?^ *```$/gm, '')
      const outside = text.replaceAll(/<code v-pre>[^<]*<\/code>/g, (code) => {
        kept += code.includes('{{') ? 1 : 0
        return ''
      })
      assert.doesNotMatch(outside, /\{\{/, page.path)
    }
    assert.ok(kept > 0, 'no page has double braces in code')
    const staged = readFileSync(join(folder, 'import.md'), 'utf8')
    assert.ok(staged.includes('<code v-pre>${{ env "NAME" }}</code>'), 'docs/import.md: names of variables')
  })

  it('has all pages in llms.txt and llms-full.txt', (t) => {
    const folder = useFolder(t)
    const pages = stageSite({ folder, base: '/docs/', sourceUrl: null, editUrl: null })
    const index = readFileSync(join(folder, 'public/llms.txt'), 'utf8')
    const full = readFileSync(join(folder, 'public/llms-full.txt'), 'utf8')
    assert.match(index, /^# Portico\n\n> A gateway.*\n\n## I run models\n\n- \[/)
    for (const page of pages.slice(1)) assert.ok(index.includes(`](/docs/${markdownFile(page)})`), page.path)
    for (const page of pages) assert.ok(full.includes(`<!-- ${page.path} -->`), page.path)
  })
})

describe('links', () => {
  it('are replaced outside of code alone', () => {
    const markdown =
      '[a](b.md#c) `[a](b.md)` [`a`](../b.md) [w](https://w.example) ![i](i.png)\n```md\n[a](b.md)\n```\n'
    const replaced = replaceLinks(markdown, 'docs/x/y.md', (text, { path, heading }) => `<${text}|${path}|${heading}>`)
    assert.equal(
      replaced,
      '<[a]|docs/x/b.md|#c> `[a](b.md)` <[`a`]|docs/b.md|> [w](https://w.example) <![i]|docs/x/i.png|>\n```md\n[a](b.md)\n```\n',
    )
  })

  it('name headings as code hosts do', () => {
    assert.equal(anchorOf('Why was a request refused?'), 'why-was-a-request-refused')
    assert.equal(anchorOf('`a.b` & the rest'), 'ab--the-rest')
  })
})

describe('versions', () => {
  it('are the releases of the changelog that were built, behind the newest sources', (t) => {
    const changelog = '## [Unreleased]\n\n## [1.1.0] - 2027-02-01\n\n## [1.0.0] - 2027-01-01\n'
    assert.deepEqual(knownReleases(changelog, '1.1.0'), ['1.1.0', '1.0.0'])
    const releases = knownReleases(changelog, '1.2.0')
    assert.deepEqual(releases, ['1.2.0', '1.1.0', '1.0.0'])
    const folder = useFolder(t)
    for (const name of ['', '1.0.0', '0.9.0']) {
      mkdirSync(join(folder, name), { recursive: true })
      writeFileSync(join(folder, name, 'index.html'), '')
    }
    assert.deepEqual(builtVersions(folder, releases), [
      { version: 'next', path: '' },
      { version: '1.0.0', path: '1.0.0/' },
    ])
  })
})

function useFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-site-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Links from the root of the site, outside of code. */
function linksIn(markdown: string): IterableIterator<RegExpExecArray> {
  return prose(markdown).matchAll(/\]\(\/([^)#\s]*)(?:#([^)\s]*))?\)/g)
}

function anchorsOf(markdown: string): Set<string> {
  const headings = [...markdown.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)]
  return new Set(headings.map(([, heading = '']) => anchorOf(heading)))
}

function prose(markdown: string): string {
  return markdown.replaceAll(/^```[^]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '')
}
