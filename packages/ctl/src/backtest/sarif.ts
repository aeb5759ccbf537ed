import { FLIP_KINDS, type FlipGroup, type FlipKind } from '@portico/gateway/backtest'
import { uriOf } from '../lint/sarif.ts'
import { VERSION } from '../version.ts'
import type { BacktestRun } from './backtest-run.ts'
import { locationText } from './location-text.ts'

const TITLES: Readonly<Record<FlipKind, string>> = {
  'newly-denied': 'Requests that passed would be denied',
  'newly-limited': 'Requests that passed would exceed a limit',
  'newly-failed': 'Requests that passed would fail',
  'newly-admitted': 'Requests that were denied would pass',
  'denied-differently': 'Requests that were denied would be denied for another reason',
  'route-moved': 'Requests would take another route',
  'backend-moved': 'Requests would go to another backend',
  'path-changed': 'The backend would get another path',
  'headers-changed': 'The backend would get other headers',
  'model-changed': 'Another model would be called',
  'price-changed': 'Model calls would have another price',
}

/** Returns the report in SARIF 2.1.0. A group of requests without a location gets the first line of the config. */
export function sarifReport({ report, file }: BacktestRun): string {
  const rules = [
    ...FLIP_KINDS.map((id) => ({ id, shortDescription: { text: TITLES[id] } })),
    { id: 'unknown', shortDescription: { text: 'Records do not hold what the decision depends on' } },
  ]
  const results = [
    ...report.flips.map((group) => ({
      ruleId: group.kind,
      ruleIndex: FLIP_KINDS.indexOf(group.kind),
      level: group.kind === 'newly-denied' || group.kind === 'newly-failed' ? 'error' : 'warning',
      message: { text: `${group.count} requests: ${group.cause}. Such as ${group.example.id}` },
      locations: [locationOf(group, file)],
    })),
    ...report.unknowns.map(({ cause, count, example }) => ({
      ruleId: 'unknown',
      ruleIndex: FLIP_KINDS.length,
      level: 'note',
      message: { text: `${count} requests: ${cause}. Such as ${example.id}` },
      locations: [locationOf({ decidedAt: null }, file)],
    })),
  ]
  const driver = { name: 'porticoctl backtest', version: VERSION, rules }
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  }
  return `${JSON.stringify(log, null, 2)}\n`
}

function locationOf({ decidedAt }: Pick<FlipGroup, 'decidedAt'>, file: string): object {
  const isInFile = decidedAt !== null && 'file' in decidedAt
  const { line, column } = isInFile ? decidedAt : { line: 1, column: 1 }
  return {
    physicalLocation: {
      artifactLocation: { uri: uriOf(isInFile ? decidedAt.file : file) },
      region: { startLine: line, startColumn: column },
    },
    ...(decidedAt !== null && !isInFile && { logicalLocations: [{ fullyQualifiedName: locationText(decidedAt) }] }),
  }
}
