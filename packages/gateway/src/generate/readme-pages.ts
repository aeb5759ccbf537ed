import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { allPolicies } from '../policies/index.ts'
import type { Policy } from '../schema/define-policy.ts'

/** READMEs stand beside the code that they are about; readers find them as pages of the docs. */

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const backends = globSync('packages/gateway/src/backends/*/README.md', { cwd: root }).toSorted()
const GUARDS = 'packages/gateway/src/llm/guards/README.md'

/** By path from the root of the project. */
const pageByReadme: ReadonlyMap<string, string> = new Map([
  ...allPolicies.map((policy) => [readmeOf(policy), `docs/policies/${pageOf(policy)}`] as const),
  ...backends.map((readme) => [readme, `docs/backends/${basename(dirname(readme))}.md`] as const),
  [GUARDS, 'docs/prompt-guards.md'],
])

export const README_MARK = '<!-- Made from READMEs beside the code by `npm run generate`; changes here are lost. -->'

/** The name of a policy's page, in the reference and among the guides. */
export function pageOf(policy: Policy): string {
  return `${policy.section}-${kebab(policy.name)}.md`
}

export function readmeOf(policy: Policy): string {
  return `packages/gateway/src/policies/${policy.section}/${kebab(policy.name)}/README.md`
}

/** A page for each kind of backend, an index of them, and the page of guards. */
export function backendPages(): Map<string, string> {
  const more = '[All kinds](README.md) · [how they are reached](../backends.md) · [fields](../reference/config-file.md)'
  const rows = backends.map((readme) => {
    const [, title = '', first = ''] = /^# (.+)\n\n([^]+?)[.:;]\s/.exec(withLinks(readme, 'docs/backends')) ?? []
    return `| [${title}](${basename(dirname(readme))}.md) | ${first.replaceAll('\n', ' ')}. |`
  })
  const intro = 'Where requests go, with examples that tests run. [Backends](../backends.md) says how they are reached.'
  const index = [README_MARK, '# Kinds of backends', '', intro, '', '| Kind | What it is |', '|---|---|', ...rows, '']
  return new Map([
    ['docs/backends/README.md', index.join('\n')],
    ...backends.map((readme) => [`docs/backends/${basename(dirname(readme))}.md`, readmePage(readme, more)] as const),
    [
      'docs/prompt-guards.md',
      readmePage(GUARDS, '[The `ai` policy](policies/backend-ai.md) · [language models](llm.md)'),
    ],
  ])
}

/** The README as a page of the docs, with links to what belongs to it. */
export function readmePage(readme: string, more: string): string {
  const page = pageByReadme.get(readme)
  if (page === undefined) throw new Error(`${readme} has no page`)
  return `${README_MARK}\n${withLinks(readme, dirname(page))}\n\n${more}\n`
}

function withLinks(readme: string, folder: string): string {
  return withLinksFrom(readme, folder, readFileSync(posix.join(root, readme), 'utf8').trimEnd())
}

/** Rewrites the links of a README for the folder of its page; a link to a README becomes a link to its page. */
export function withLinksFrom(readme: string, folder: string, text: string): string {
  return text.replaceAll(/\]\(([^)#:]+)(#[^)]*)?\)/g, (_link, path: string, heading = '') => {
    const target = posix.join(dirname(readme), path)
    return `](${posix.relative(folder, pageByReadme.get(target) ?? target)}${heading})`
  })
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
