import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { render } from 'ink-testing-library'
import { createElement as h } from 'react'
import { eventFrom, eventsOf, messageEvent } from '../testing/events.ts'
import { App } from './app.ts'
import { themeFor } from './theme.ts'
import { createTraceStore } from './trace-store.ts'

const keys = { up: '\u001b[A', down: '\u001b[B', right: '\u001b[C', left: '\u001b[D', pageDown: '\u001b[6~' }

/** Renders the app. Frames arrive after their cause, so assertions wait. */
function useApp(t: TestContext, { columns = 120, rows = 30 } = {}) {
  const store = createTraceStore('waiting for the next request')
  const app = render(h(App, { title: 'porticoctl trace', store, theme: themeFor({ NO_COLOR: '1' }) }))
  t.after(() => app.unmount())
  const resize = (columns: number, rows: number): void => {
    Object.defineProperty(app.stdout, 'columns', { value: columns, configurable: true })
    Object.defineProperty(app.stdout, 'rows', { value: rows, configurable: true })
    app.stdout.emit('resize')
  }
  resize(columns, rows)
  const shows = async (pattern: RegExp): Promise<string> => {
    const limit = performance.now() + 20_000
    for (;;) {
      const screen = stripVTControlCharacters(app.lastFrame() ?? '')
      if (pattern.test(screen)) return screen
      if (performance.now() > limit) assert.match(screen, pattern)
      await delay(5)
    }
  }
  const press = (...pressed: string[]): void => {
    for (const key of pressed) app.stdin.write(key)
  }
  return { store, resize, shows, press }
}

describe('the app', () => {
  test('waits, then lists events as they come, the first one selected', async (t) => {
    const { store, shows } = useApp(t)
    await shows(/# type +summary[^]*waiting for the next request/)
    for (const event of eventsOf()) store.add(eventFrom(event))
    store.setStatus('request finished')
    const screen = await shows(/13 events; request finished/)
    assert.match(screen, /> {3}1 requestStarted +request started/)
    assert.match(screen, / 13 requestFinished +request finished/)
    assert.match(screen, /\[event\] event 1/)
  })

  test('keys select events, switch the pane, scroll and choose the mode', async (t) => {
    const { store, shows, press } = useApp(t, { columns: 120, rows: 16 })
    for (const event of eventsOf()) store.add(eventFrom(event))
    await shows(/13 events/)
    press(keys.down, keys.down, keys.down)
    await shows(/"type": "routeSelection"[^]*> {3}4 routeSelection|> {3}4 routeSelection[^]*"type": "routeSelection"/)
    press(keys.up, keys.up, 's')
    await shows(/\[state\] 2 initial request/)
    press('\t', keys.pageDown)
    assert.match(await shows(/\(11-20 of \d+\)/), /> {3}2 requestSnapshot/)
    press('d', '\t', keys.pageDown)
    assert.match(await shows(/> {2}12 responseSnapshot/), /\[diff\] 11 → 12 final response/)
    press('e', keys.right)
    await shows(/│ge": \{/)
    press(keys.left)
    await shows(/│ {2}"message": \{/)
  })

  test('keys that come together each count', async (t) => {
    const { store, shows, press } = useApp(t)
    for (const event of eventsOf()) store.add(eventFrom(event))
    await shows(/13 events/)
    press(`${keys.down}${keys.down}sd`, '\td')
    const screen = await shows(/\[diff\] 2 → 3 gateway policies/)
    assert.match(screen, /> {3}3 requestSnapshot/)
    assert.match(screen, /┌─+┐╔═+╗/)
  })

  test('says when the terminal is too small, and comes back when it grows', async (t) => {
    const { store, shows, resize } = useApp(t, { columns: 39, rows: 30 })
    store.add(messageEvent({ type: 'requestStarted' }))
    await shows(/^terminal too small: 39x30/)
    resize(40, 12)
    assert.equal((await shows(/requestStarted/)).split('\n').length, 12)
    resize(200, 50)
    assert.equal((await shows(/╗┌/)).split('\n').length, 50)
    resize(5, 1)
    await shows(/^term…$/)
  })

  test('marks the active pane and the selection without colors, and problems in words', async (t) => {
    const { store, shows, press } = useApp(t)
    store.add(messageEvent({ type: 'requestStarted' }))
    await shows(/╔═+╗┌─+┐/)
    press('\t')
    await shows(/┌─+┐╔═+╗/)
    store.setStatus('the gateway went away', true)
    await shows(/1 event; the gateway went away/)
  })

  test('shows new types and hostile values as text', async (t) => {
    const { store, shows, press } = useApp(t)
    store.add(messageEvent({ type: 'brandNewEventTypeWithALongName', value: '\u001b[31mred\u0007' }))
    const screen = await shows(/"value": "\\u001b\[31mred\\u0007"/)
    assert.match(screen, /brandNewEventTypeWi \{"value":"\\u001b\[31mred/)
    press('s')
    await shows(/no snapshot yet/)
  })
})
