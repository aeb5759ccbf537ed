import { screen, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RECORD_OUTCOMES } from '@portico/gateway/admin-api'
import { NOON, sampleEndpoint } from '../testing/samples.ts'
import { showPart, shownText } from '../testing/render.tsx'
import { Copy } from './copy.tsx'
import { Download } from './download.tsx'
import { EndpointHealth, TargetError } from './health.tsx'
import { Outcome } from './outcome.tsx'
import { Empty, Failed, Loading } from './states.tsx'
import { Value } from './value.tsx'

describe('Value', () => {
  test('a short text is whole, and no button', async (t) => {
    await showPart(t, <Value text="/orders" most={10} />)
    assert.ok(screen.getByText('/orders'))
    assert.equal(screen.queryByRole('button'), null)
  })

  test('a long text is cut in the middle, and whole after Enter', async (t) => {
    const text = `begin${'-'.repeat(200)}end`
    const { user } = await showPart(t, <Value text={text} most={21} />)
    const button = screen.getByRole('button', { name: 'begin-----…-------end' })
    await user.tab()
    assert.equal(document.activeElement, button)
    await user.keyboard('{Enter}')
    assert.ok(screen.getByText(text))
    assert.equal(screen.queryByRole('button'), null)
  })

  test('text from traffic never becomes markup', async (t) => {
    await showPart(t, <Value text={'<img src=x onerror="alert(1)">'} />)
    assert.ok(screen.getByText('<img src=x onerror="alert(1)">'))
    assert.equal(document.querySelector('img'), null)
  })

  test('an empty text is shown as nothing', async (t) => {
    await showPart(t, <Value text="" />)
    assert.equal(shownText(), '')
  })
})

describe('Outcome', () => {
  test('every outcome but a plain success says a word, not only a color', async (t) => {
    await showPart(
      t,
      <ul>
        {RECORD_OUTCOMES.map((outcome) => (
          <li key={outcome}>
            <Outcome status={200} outcome={outcome} />
          </li>
        ))}
      </ul>,
    )
    const texts = screen.getAllByRole('listitem').map(({ textContent }) => textContent ?? '')
    for (const [index, outcome] of RECORD_OUTCOMES.entries())
      assert.equal(texts[index]?.includes(outcome), outcome !== 'passed', outcome)
  })

  test('a request without a response has a dash in place of a status', async (t) => {
    await showPart(t, <Outcome status={0} outcome="aborted" />)
    assert.match(shownText(), /—.*aborted/)
  })

  test('an error of the backend that passed is marked', async (t) => {
    await showPart(t, <Outcome status={429} outcome="passed" />)
    assert.ok(screen.getByTitle('The backend answered with an error'))
  })
})

describe('Loading, Failed and Empty', () => {
  test('loading is announced by name', async (t) => {
    await showPart(t, <Loading what="routes" rows={3} />)
    assert.equal(screen.getByRole('status', { name: 'Loading routes' }).children.length, 3)
  })

  test('a failure says what the gateway said, as text, and can be retried by key', async (t) => {
    let retries = 0
    const error = new Error('<b>connection refused</b>')
    const { user } = await showPart(t, <Failed what="Routes" error={error} onRetry={() => retries++} />)
    const alert = screen.getByRole('alert')
    assert.ok(within(alert).getByRole('heading', { name: 'Routes could not be read' }))
    assert.ok(within(alert).getByText('<b>connection refused</b>'))
    await user.tab()
    await user.keyboard(' ')
    assert.equal(retries, 1)
  })

  test('an empty page has a heading and says what to do', async (t) => {
    await showPart(t, <Empty title="No routes">Add one.</Empty>)
    assert.ok(screen.getByRole('heading', { name: 'No routes' }))
    assert.ok(screen.getByText('Add one.'))
  })
})

describe('Copy and Download', () => {
  test('copy puts the whole text on the clipboard', async (t) => {
    const { user } = await showPart(t, <Copy text={'a\nb'} label="Copy the id" />)
    await user.click(screen.getByRole('button', { name: 'Copy the id' }))
    assert.equal(await navigator.clipboard.readText(), 'a\nb')
  })

  test('copy says so where the browser has no clipboard', async (t) => {
    const { user } = await showPart(t, <Copy text="a" label="Copy the id" />)
    t.mock.getter(navigator, 'clipboard', () => undefined)
    await user.click(screen.getByRole('button', { name: 'Copy the id' }))
    assert.ok(await screen.findByRole('button', { name: /^Not copied/ }))
  })

  test('a download has the name and the text of the file', async (t) => {
    const blobs: Blob[] = []
    const links: string[] = []
    t.mock.method(URL, 'createObjectURL', (blob: Blob) => (blobs.push(blob), 'blob:1'))
    t.mock.method(HTMLAnchorElement.prototype, 'click', function (this: HTMLAnchorElement) {
      links.push(this.download)
    })
    const { user } = await showPart(t, <Download text="binds: []" name="gateway.yaml" />)
    await user.click(screen.getByRole('button', { name: 'Download gateway.yaml' }))
    assert.deepEqual([links, await blobs[0]?.text()], [['gateway.yaml'], 'binds: []'])
  })
})

describe('EndpointHealth', () => {
  test('a healthy endpoint that never failed says nothing', async (t) => {
    await showPart(t, <EndpointHealth endpoint={sampleEndpoint()} now={NOON} />)
    assert.equal(shownText(), '')
  })

  test('an evicted endpoint says how often and until when', async (t) => {
    const evicted = { state: 'evicted', evictions: 3, evictedUntil: NOON + 41_000 } as const
    await showPart(t, <EndpointHealth endpoint={sampleEndpoint(evicted)} now={NOON} />)
    assert.equal(shownText(), '✕ evicted 3 times in a row, 41 s left')
  })

  test('causes are words, and codes that have none stay as they are', async (t) => {
    const failing = { state: 'failing', failures: 2, health: 0.5 } as const
    const lastFailure = { at: NOON - 5000, cause: 'connect_failed' }
    await showPart(t, <EndpointHealth endpoint={sampleEndpoint({ ...failing, lastFailure })} now={NOON} />)
    assert.match(shownText(), /failing: 2 in a row, health 50 % · connection failed, 5 s ago/)
  })
})

test('the last error of an MCP server is in words and leads to its request', async (t) => {
  const error = { at: NOON - 60_000, request: 'r9', outcome: 'tool_error', message: 'disk full' }
  await showPart(t, <TargetError error={error} now={NOON} />)
  const link = screen.getByRole('link', { name: 'tool error' })
  assert.equal(link.getAttribute('href'), '/requests?id=r9')
  assert.match(shownText(), /disk full · 1 min ago/)
})
