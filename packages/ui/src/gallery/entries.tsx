import { RECORD_OUTCOMES } from '@portico/gateway/admin-api'
import type { ReactElement } from 'react'
import { Copy } from '../parts/copy.tsx'
import { Download } from '../parts/download.tsx'
import { EndpointHealth, TargetError } from '../parts/health.tsx'
import * as icons from '../parts/icons.tsx'
import { Outcome } from '../parts/outcome.tsx'
import { ReadOnly } from '../parts/read-only.tsx'
import { Empty, Failed, Loading, Stale } from '../parts/states.tsx'
import { Value } from '../parts/value.tsx'
import { NOON, sampleEndpoint } from '../testing/samples.ts'

/** A part of `parts/` with its states. */
interface GalleryEntry {
  /** The name of the component. */
  readonly part: string
  readonly file: string
  /** When to use the part. */
  readonly use: string
  readonly states: readonly GalleryState[]
}

interface GalleryState {
  readonly name: string
  readonly element: ReactElement
}

const LONG = `/v1/${'very/'.repeat(40)}long?token=<redacted>`
const nothing = (): void => {}

/** All parts. A test fails when a component of `parts/` has no entry. */
export const GALLERY: readonly GalleryEntry[] = [
  {
    ...{ part: 'Value', file: 'parts/value.tsx' },
    use: 'Every text from traffic or config: paths, headers, expressions, names.',
    states: [
      { name: 'short', element: <Value text="/orders?page=2" /> },
      { name: 'long: cut in the middle, whole on a click', element: <Value text={LONG} /> },
      { name: 'markup stays text', element: <Value text={'<img src=x onerror="alert(1)">'} /> },
      { name: 'empty', element: <Value text="" /> },
    ],
  },
  {
    ...{ part: 'Outcome', file: 'parts/outcome.tsx' },
    use: 'The status of a request, with a color, a shape and a word for its outcome.',
    states: [
      ...RECORD_OUTCOMES.map((outcome) => ({ name: outcome, element: <Outcome status={200} outcome={outcome} /> })),
      { name: 'passed, with an error of the backend', element: <Outcome status={429} outcome="passed" /> },
      { name: 'no response', element: <Outcome status={0} outcome="failed" /> },
    ],
  },
  {
    ...{ part: 'EndpointHealth', file: 'parts/health.tsx' },
    use: 'The health of an endpoint or a provider, beside its name.',
    states: [
      { name: 'healthy: nothing', element: <EndpointHealth endpoint={sampleEndpoint()} now={NOON} /> },
      {
        name: 'healthy again',
        element: (
          <EndpointHealth
            endpoint={sampleEndpoint({ lastFailure: { at: NOON - 90_000, cause: 'status 503' } })}
            now={NOON}
          />
        ),
      },
      {
        name: 'failing',
        element: (
          <EndpointHealth
            endpoint={sampleEndpoint({
              ...{ state: 'failing', failures: 3, health: 0.4 },
              lastFailure: { at: NOON - 2000, cause: 'connect_timeout' },
            })}
            now={NOON}
          />
        ),
      },
      {
        name: 'evicted',
        element: (
          <EndpointHealth
            endpoint={sampleEndpoint({
              ...{ state: 'evicted', evictions: 2, evictedUntil: NOON + 41_000 },
              lastFailure: { at: NOON - 5000, cause: 'connect_failed' },
            })}
            now={NOON}
          />
        ),
      },
    ],
  },
  {
    ...{ part: 'TargetError', file: 'parts/health.tsx' },
    use: 'The last error of an MCP server, with a link to its request.',
    states: [
      {
        name: 'tool error',
        element: (
          <TargetError
            error={{ at: NOON - 60_000, request: 'r1', outcome: 'tool_error', message: 'disk full' }}
            now={NOON}
          />
        ),
      },
    ],
  },
  {
    ...{ part: 'Loading', file: 'parts/states.tsx' },
    use: 'Data on its way: as many rows as the data will have.',
    states: [{ name: 'three rows', element: <Loading what="routes" rows={3} /> }],
  },
  {
    ...{ part: 'Failed', file: 'parts/states.tsx' },
    use: 'Data that could not be read. The message is the one of the gateway.',
    states: [
      {
        name: 'with a retry',
        element: <Failed what="Routes" error={new Error('connection refused')} onRetry={nothing} />,
      },
    ],
  },
  {
    ...{ part: 'Stale', file: 'parts/states.tsx' },
    use: 'Above data that could not be read again.',
    states: [{ name: 'with the reason', element: <Stale at={NOON} error={new Error('connection refused')} /> }],
  },
  {
    ...{ part: 'Empty', file: 'parts/states.tsx' },
    use: 'A page or list without entries. Say how to get some.',
    states: [
      {
        name: 'with a next step',
        element: (
          <Empty title="No routes">
            <p>Add one to the config file.</p>
          </Empty>
        ),
      },
    ],
  },
  {
    ...{ part: 'Copy', file: 'parts/copy.tsx' },
    use: 'Beside a value that people take elsewhere. The label names the value.',
    states: [{ name: 'ready; click for done or failed', element: <Copy text="r1" label="Copy the id" /> }],
  },
  {
    ...{ part: 'ReadOnly', file: 'parts/read-only.tsx' },
    use: 'Beside controls that are disabled for a token with the scope Read.',
    states: [
      { name: 'with a reason', element: <ReadOnly reason="Read-only: the token grafana has the scope Read" /> },
      { name: 'without: nothing', element: <ReadOnly reason={null} /> },
    ],
  },
  {
    ...{ part: 'Download', file: 'parts/download.tsx' },
    use: 'A text to keep as a file.',
    states: [{ name: 'ready', element: <Download text="binds: []" name="portico.yaml" /> }],
  },
  ...Object.entries(icons).map(([part, Icon]) => ({
    ...{ part, file: 'parts/icons.tsx', use: 'Beside or within an element that has a name.' },
    states: [{ name: '16 by 16 pixels', element: <Icon /> }],
  })),
]
