import type { ExplainedPart, Explanation, ReadValue, Spending, SourceLocation } from '@portico/gateway/admin-api'

/** Formats an explanation for people: the reason, the location, the values, and what would pass. */
export function printExplanation(found: Explanation): string {
  const { decidedBy, config } = found
  const generation = config.isExact
    ? `config ${config.generation}`
    : `config ${config.generation}, which is no longer stored (${config.live} is live)`
  const where =
    decidedBy?.place === null || decidedBy?.place === undefined ? '' : ` ▸ ${printLocation(decidedBy.place)}`
  return [
    `${found.id}  ${found.status === 0 ? 'no answer' : found.status}  ${found.outcome}  ${found.code}`,
    found.headline,
    `decided by ${decidedBy?.policy ?? 'the gateway'}, ${generation}${where}`,
    ...(decidedBy?.origin === null || decidedBy?.origin === undefined ? [] : [`attached ${decidedBy.origin}`]),
    ...section(
      'read',
      found.values.map((value) => `${value.name} = ${printValue(value)}`),
    ),
    ...section(
      'rules',
      found.rules.flatMap((rule) => [
        `${markOf(rule)} ${rule.mode} ${rule.expression}${rule.place === null ? '' : `  (${printLocation(rule.place)})`}`,
        ...(rule.isAgainst && rule.value !== null ? rule.value.parts.flatMap((part) => printPart(part, '    ')) : []),
      ]),
    ),
    ...section(
      'nearest',
      found.candidates.map(
        ({ route, lacks, place }) =>
          `${route} lacks ${lacks.join(', ')}${place === null ? '' : `  (${printLocation(place)})`}`,
      ),
    ),
    ...section('spent', spentLines(found.spending)),
    ...section(
      'calls',
      found.calls.map(
        ({ target, status, error, tookMs }) =>
          `${target}  ${error ?? status ?? ''}${tookMs === null ? '' : `  ${tookMs} ms`}`,
      ),
    ),
    ...section(
      'steps',
      found.steps.map(({ step, phase, outcome }) => `${step} (${phase})  ${outcome}`),
    ),
    ...section(
      'would pass if',
      found.wouldPass.map(({ text, changes }) => {
        const place = changes.find((change) => change.by === 'config')?.place ?? null
        return `${text}${place === null ? '' : `  (${printLocation(place)})`}`
      }),
    ),
    ...found.remarks.map((remark) => `note: ${remark}`),
    '',
  ].join('\n')
}

/** The amount spent of the budget, then the latest requests that spent it, newest first. */
function spentLines(spending: Spending | null): string[] {
  if (spending === null || spending.requests === 0) return []
  const { counts, total, requests, isWhole, latest } = spending
  const what = counts === 'tokens' ? `${total} tokens by ${requests} requests` : `${requests} requests`
  return [
    `${isWhole ? '' : 'at least '}${what}`,
    ...latest.map(({ id, at, key, cost }) =>
      [id, new Date(at).toISOString().slice(11, 23), key ?? '', counts === 'tokens' ? `${cost} tokens` : '']
        .filter((part) => part !== '')
        .join('  '),
    ),
  ]
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)]
}

function printPart({ text, value, state, error, parts }: ExplainedPart, indent: string): string[] {
  const shown = state === 'failed' ? `failed (${error ?? ''})` : printValue({ name: text, value, state })
  return [`${indent}${text} → ${shown}`, ...parts.flatMap((part) => printPart(part, `${indent}  `))]
}

function printValue({ value, state }: Pick<ReadValue, 'value' | 'state' | 'name'>): string {
  if (state === 'absent') return '(nothing)'
  if (state === 'hidden') return '(hidden)'
  return state === 'notKept' ? '(not recorded)' : JSON.stringify(value)
}

/** Prints a location: `gateway.yaml:41:9`, `GwPolicy shop/limits spec.traffic`. */
function printLocation(place: SourceLocation): string {
  if ('file' in place) return `${place.file}:${place.line}:${place.column}`
  return `${place.kind} ${place.namespace}/${place.name}${place.path === '' ? '' : ` ${place.path}`}`
}

/**
 * A cross for a rule that denied the request, a dot for an allow rule that did not match, a tick for every other rule.
 */
function markOf({ isAgainst, mode, matched }: Explanation['rules'][number]): string {
  if (isAgainst) return '✗'
  return mode === 'allow' && !matched ? '·' : '✓'
}
