import { allPolicies } from '../policies/index.ts'
import { backendSteps, requestOrder, responseOrder, responseReasons } from '../policies/order.ts'
import type { Policy, Section } from '../schema/define-policy.ts'
import { pageOf } from './readme-pages.ts'

/** Fills the marked places of `docs/policies.md`: the prose around them is written by hand. */
export function withPolicyTables(page: string): string {
  const missing = new Set(Object.keys(tables))
  const filled = page.replaceAll(PLACE, (_place, name: string) => {
    const print = tables[name]
    if (print === undefined) throw new Error(`there is no table ${name}`)
    missing.delete(name)
    return [`<!-- ${name}: ${NOTE} -->`, ...print(), `<!-- end of ${name} -->`].join('\n')
  })
  if (missing.size > 0) throw new Error(`no place for ${[...missing].join(', ')}`)
  return filled
}

const NOTE = 'printed by `npm run generate`; changes here are lost'
const PLACE = /<!-- ([\w-]+): printed by [^\n]*-->\n[^]*?<!-- end of \1 -->/g

const tables: Readonly<Record<string, () => string[]>> = {
  'frontend-policies': () => policyTable('frontend'),
  'traffic-policies': () => policyTable('traffic'),
  'backend-policies': () => policyTable('backend'),
  'request-order': () =>
    orderTable([
      ...requestOrder.map(({ steps, why }) => [Object.keys(steps), why] as const),
      [
        Object.keys(backendSteps).map((name) => `backend.${name}`),
        'run once for each attempt, on a copy of the request; signing comes last',
      ],
    ]),
  'response-order': () =>
    orderTable([
      [
        ['backend.extAuth', 'backend.transformation'],
        'correct the response of a backend before the policies of routes see it',
      ],
      ...responseOrder.map((name) => [[name], responseReasons[name]] as const),
    ]),
}

function policyTable(section: Section): string[] {
  const isTraffic = section === 'traffic'
  return table(
    ['Policy', 'What it does', 'Attached to', ...(isTraffic ? ['Early'] : []), 'If set several times', ''],
    policiesOf(section).map((policy) => [
      `[${policy.name}](policies/${pageOf(policy)})`,
      firstSentence(policy.schema.field.description),
      placesOf(policy).join(', '),
      ...(isTraffic ? [policy.phases?.includes('PreRouting') ? 'yes' : ''] : []),
      policy.merge === 'join' ? 'all' : 'the nearest',
      `[fields](reference/${pageOf(policy)})`,
    ]),
  )
}

/** Traffic policies stand in running order. */
function policiesOf(section: Section): readonly Policy[] {
  const all = allPolicies.filter((policy) => policy.section === section)
  if (section !== 'traffic') return all
  const names = requestOrder.flatMap(({ steps }) => Object.keys(steps))
  return all.toSorted((left, right) => names.indexOf(left.name) - names.indexOf(right.name))
}

/**
 * From the farthest to the nearest: the attachment points of a policy, and the targets that a policy of the top-level
 * list may name.
 */
function placesOf({ section, attach }: Policy): readonly string[] {
  if (section === 'frontend') return ['gateway']
  if (section === 'traffic') return attach.includes('listener') ? ['gateway', 'listener', 'route', 'rule'] : ['route']
  const parts = attach.includes('mcpTarget') ? ['provider', 'MCP target'] : ['provider']
  return ['gateway', 'listener', 'route', 'rule', 'backend', ...parts]
}

function orderTable(rows: readonly (readonly [names: readonly string[], why: string])[]): string[] {
  return table(
    ['#', 'Policy', 'Why here'],
    rows.map(([names, why], index) => [String(index + 1), names.map((name) => `\`${name}\``).join(', '), why]),
  )
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`.replaceAll(/ {2,}\|/g, ' |')
  return [line(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(line)]
}

function firstSentence(text: string): string {
  return /^.*?\.(?= |$)/s.exec(text)?.[0] ?? text
}
