import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { type Program, useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { useTlsFiles } from '../../packages/gateway/src/testing/tls-files.ts'
import { type ReferenceServer, startReferenceServer } from '../mcp/reference/server.ts'
import { fits, noBrowser, openPage, openReady, seriousFindings, shoot, SIZES, startBrowser } from './browser.ts'
import { clippedControls } from './in-page.ts'

/** Models and tools in a real browser, with a mock of a model and a server by the official SDK behind the gateway. */

const EVIL = '<img src=x onerror="document.title=1">'

describe('the playgrounds', { skip: noBrowser }, () => {
  let browser: Browser
  let server: ReferenceServer
  before(async () => {
    browser = await startBrowser()
    server = await startReferenceServer()
  })
  after(async () => {
    await browser.close()
    await server.close()
  })

  for (const [size, viewport] of Object.entries(SIZES)) {
    it(`chat with a model, tools in the loop, each request with its decisions (${size})`, async (t) => {
      const { program, page, complaints } = await open(t, browser, server, viewport)
      await page.goto(`${program.admin}/ui/models?model=fast`)
      await page.getByRole('textbox', { name: 'Message' }).fill('Good morning')
      await page.keyboard.press('Enter')
      await page.locator('.turn-model').getByText('You said: Good morning').waitFor()
      const decisions = page.getByRole('region', { name: 'Decisions' })
      await decisions.getByText('route chat').waitFor()
      await decisions.getByText('llmRequest').waitFor()
      assert.deepEqual(await seriousFindings(page), [])
      await shoot(page, `models-${size}`)

      await page.getByRole('combobox', { name: 'Tools for the model' }).selectOption('tools')
      await page.getByText(/\d+ tools for the model/).waitFor()
      await page.getByRole('textbox', { name: 'Message' }).fill('Please use echo for this')
      await page.keyboard.press('Enter')
      const tool = page.locator('.turn-tool')
      await tool.getByText('Calls echo').waitFor()
      await tool.getByRole('region', { name: 'Result' }).waitFor()
      await page.locator('.turn-model').nth(2).getByText('[mock]').waitFor()
      await decisions.getByText('POST /mcp').first().waitFor()
      assert.match(page.url(), /tools=/)
      assert.ok(await fits(page), 'the page is wider than the screen')
      assert.deepEqual(await clippedControls(page), [])
      await shoot(page, `models-loop-${size}`)

      await page.getByRole('tab', { name: 'Clients' }).click()
      await page.getByText(`ANTHROPIC_BASE_URL=http://127.0.0.1:${program.port()}`).first().waitFor()
      assert.deepEqual(await seriousFindings(page), [])
      assert.deepEqual(complaints, [])
    })

    it(`a tool by its form: picture, text, failure, and what rules hide (${size})`, async (t) => {
      const { program, page, complaints } = await open(t, browser, server, viewport)
      await page.goto(`${program.admin}/ui/tools?tool=echo`)
      await page.getByRole('region', { name: 'Hidden tools' }).getByText('mcp.tool.name == "wait"').waitFor()
      await page.getByRole('textbox', { name: 'message' }).waitFor()
      await page.getByRole('button', { name: 'Call', exact: true }).click()
      await page.getByText('1 field has a problem').waitFor()
      await page.getByRole('textbox', { name: 'message' }).fill('hello there')
      await page.getByRole('button', { name: 'Write JSON' }).click()
      await page.getByText('"message": "hello there"').waitFor()
      await page.getByRole('button', { name: 'Fill in the form' }).click()
      await page.getByRole('button', { name: 'Call', exact: true }).click()
      const result = page.getByRole('region', { name: 'Result' })
      await result.getByText('hello there').waitFor()
      await page.getByRole('region', { name: 'Decisions' }).getByText('tools/call echo').first().waitFor()
      assert.deepEqual(await seriousFindings(page), [])
      assert.ok(await fits(page), 'the page is wider than the screen')
      assert.deepEqual(await clippedControls(page), [])
      await shoot(page, `tools-${size}`)

      await page.getByRole('link', { name: /test_image_content/ }).click()
      await page.getByRole('button', { name: 'Call', exact: true }).click()
      await page.getByAltText('from the tool (image/png)').waitFor()
      await page.getByRole('link', { name: /test_error_handling/ }).click()
      await page.getByRole('button', { name: 'Call', exact: true }).click()
      await page.getByText('The tool reported an error').waitFor()
      await page.getByRole('link', { name: /json_schema_2020_12_tool/ }).click()
      await page.getByRole('textbox', { name: 'Arguments as JSON' }).waitFor()
      await page.getByRole('tab', { name: 'Clients' }).click()
      await page.getByText(`claude mcp add --transport http portico http://127.0.0.1:${program.port()}/mcp`).waitFor()
      assert.deepEqual(complaints, [])
    })
  }

  it('shows a refusal with the step that decided it, and what would have passed', async (t) => {
    const { program, page, complaints } = await open(t, browser, server, SIZES.wide)
    await page.goto(
      `${program.admin}/ui/models?model=any&route=${encodeURIComponent(await routeKey(program, 'limited'))}`,
    )
    for (const text of ['one', 'two']) {
      await page.getByRole('textbox', { name: 'Message' }).fill(text)
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
    }
    await page.getByRole('alert').getByText('429').waitFor()
    const decisions = page.getByRole('region', { name: 'Decisions' })
    await decisions.getByText('▲ stopped').waitFor()
    await decisions.getByText('It passes if').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await shoot(page, 'models-refused')
    await decisions.getByRole('link', { name: 'Open the request' }).click()
    await page.waitForURL(/\/ui\/requests\?id=/)
    assert.deepEqual(complaints, [])
  })

  it('says who takes requests, who is left out and why, and what each used', async (t) => {
    const { file } = useConfigFile(t, FAILOVER)
    const program = await useProgram(t, { args: ['-f', file] })
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide })
    await openReady({ page, complaints }, `${program.admin}/ui/models?model=gpt-4o`)
    const providers = page.getByRole('region', { name: 'Providers in the order of failover' })
    const provider = (name: string) => providers.locator('.provider').filter({ hasText: name })
    await provider('first').getByText('● Receives requests').waitFor()
    await provider('spare').getByText('○ On standby').waitFor()
    await page.getByRole('textbox', { name: 'Message' }).fill('Good morning')
    await page.keyboard.press('Enter')
    await page.locator('.turn-model').getByText('You said: Good morning').waitFor()
    await provider('first')
      .getByText(/✕ evicted, \d+ (s|min) left · connection failed/)
      .waitFor()
    await provider('spare').getByText('● Receives requests').waitFor()
    assert.equal(await providers.getByText('Receives requests').count(), 1)
    await page.reload()
    // A mock has no price, so no cost is shown.
    await provider('spare')
      .getByText(/24 h: \d+ tokens, cost unknown/)
      .waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await shoot(page, 'models-failover')
    assert.deepEqual(complaints, [])
  })

  it('opens with a model or a tool that was found by its name', async (t) => {
    const { program, page, complaints } = await open(t, browser, server, SIZES.wide)
    await fetch(`http://127.0.0.1:${program.port()}/limited/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'asked-for-once', messages: [{ role: 'user', content: 'Hello' }] }),
    })
    const find = async (text: string, name: string): Promise<void> => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Go to' }).and(page.locator(':focus')).waitFor()
      await page.keyboard.type(text)
      await page.getByRole('option', { name }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    }
    await find('model fast', 'model fast chat')
    await page.waitForURL((url) => url.searchParams.get('model') === 'fast')
    assert.equal(await page.getByLabel('Model', { exact: true }).inputValue(), 'fast')
    await find('once', 'model asked-for-once limited')
    await page.waitForURL((url) => url.searchParams.get('model') === 'asked-for-once')
    assert.equal(new URL(page.url()).searchParams.get('route'), await routeKey(program, 'limited'))
    await page.goto(`${program.admin}/ui/tools?tool=gone`)
    await page.getByText('gone is not offered to this caller').waitFor()
    await page.getByRole('link', { name: 'Requests' }).click()
    await find('tool error_handling', 'tool test_error_handling tools')
    await page.waitForURL(/\/ui\/tools\?/)
    await page
      .locator('.tool')
      .getByRole('heading', { name: /test_error_handling/ })
      .waitFor()
    assert.deepEqual(complaints, [])
  })

  it('stops an answer in the middle', async (t) => {
    const { program, page } = await open(t, browser, server, SIZES.wide)
    await page.goto(`${program.admin}/ui/models?model=any&route=${encodeURIComponent(await routeKey(program, 'slow'))}`)
    await page.getByRole('textbox', { name: 'Message' }).fill('a b c d e f g h i j k l m n o p q r s t u v w x y z')
    await page.keyboard.press('Enter')
    await page.locator('.turn-model').getByText('[mock]').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('alert').getByText('Stopped').waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
  })

  it('takes nothing that models and tools say for markup', async (t) => {
    const { program, page, complaints } = await open(t, browser, server, SIZES.wide)
    await page.goto(`${program.admin}/ui/models?model=any`)
    await page.getByRole('textbox', { name: 'Message' }).fill(EVIL)
    await page.keyboard.press('Enter')
    await page.locator('.turn-model').getByText(EVIL).waitFor()
    assert.equal(await page.locator('main img').count(), 0)
    await page.goto(`${program.admin}/ui/tools?tool=echo`)
    await page.locator('.tool').getByText(EVIL).waitFor()
    await page.getByRole('textbox', { name: 'message' }).fill(EVIL)
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByRole('region', { name: 'Result' }).getByText(EVIL).waitFor()
    assert.equal(await page.locator('main img').count(), 0)
    assert.equal(await page.title(), 'Tools · Portico')
    assert.deepEqual(complaints, [])
  })

  it('sends a request again, says what was not recorded, and traces the next one', async (t) => {
    const { program, page, complaints } = await open(t, browser, server, SIZES.wide)
    const url = `http://127.0.0.1:${program.port()}`
    const post = (path: string) =>
      fetch(url + path, {
        method: 'POST',
        body: 'an order',
        headers: { 'content-type': 'text/plain', authorization: 'Bearer x' },
      })
    await post('/kept')
    assert.equal((await post('/lost')).status, 403)
    await page.goto(`${program.admin}/ui/requests`)
    await page.locator('.table-body .row').filter({ hasText: '/kept' }).first().click()
    await page.getByRole('tab', { name: 'Send again' }).click()
    await page.getByText('Credentials were redacted in the record: authorization').waitFor()
    assert.equal(await page.getByRole('textbox', { name: 'Body' }).inputValue(), 'an order')
    await page.getByRole('textbox', { name: 'Headers' }).fill('x-team: ops')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('region', { name: 'Response' }).getByText('Open the request').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await shoot(page, 'again')
    await page.keyboard.press('Escape')
    await page.locator('.row-denied').filter({ hasText: '/lost' }).first().click()
    await page.getByRole('tab', { name: 'Send again' }).click()
    await page.getByText('The body (8 bytes) was not recorded').waitFor()
    await page.getByRole('tab', { name: 'Trace the next request' }).click()
    await page.getByRole('button', { name: 'Start the trace' }).click()
    await page.getByText('Waiting for the next request').waitFor()
    await post('/kept')
    assert.equal((await post('/lost')).status, 403)
    await page.getByText('The request is finished').waitFor()
    await page.getByRole('list', { name: 'Steps' }).getByText('▲ stopped').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    assert.deepEqual(complaints, [])
  })

  it('reaches listeners that ask for more than a request, or says at once why it cannot', async (t) => {
    const { dir } = useTlsFiles(t, ['mutual.example.com'])
    const tls = { cert: join(dir, 'mutual.example.com.crt'), key: join(dir, 'mutual.example.com.key') }
    const routes = [
      { name: 'chat', matches: [{ path: { pathPrefix: '/v1' } }], backends: [{ ai: { provider: { mock: {} } } }] },
      {
        name: 'tools',
        matches: [{ path: { pathPrefix: '/mcp' } }],
        backends: [{ mcp: { targets: [{ name: 'reference', static: { host: '127.0.0.1', port: server.port } }] } }],
      },
    ]
    const named = (name: string): object[] => routes.map((route) => ({ ...route, name: `${name}-${route.name}` }))
    const https = { protocol: 'HTTPS', hostname: 'mutual.example.com', tls }
    const { file } = useConfigFile(t, {
      config: { workers: 1 },
      frontend: { proxyProtocol: {}, tls: { alpnProtocols: ['h2'] } },
      binds: [
        { port: 0, address: '127.0.0.1', listeners: [{ ...https, routes: named('open') }] },
        {
          port: 0,
          address: '127.0.0.1',
          listeners: [{ ...https, tls: { ...tls, root: join(dir, 'ca.crt') }, routes: named('mutual') }],
        },
      ],
    })
    const program = await useProgram(t, { args: ['-f', file] })
    const watched = await openPage(t, browser, { viewport: SIZES.wide })
    await openReady(watched, `${program.admin}/ui/`)
    const { page, complaints } = watched
    const address = async (kind: 'models' | 'tools', route: string): Promise<string> =>
      `${program.admin}/ui/${kind}?model=any&tool=echo&route=${encodeURIComponent(await routeKey(program, route))}`
    const say = async (text: string): Promise<void> => {
      await page.getByRole('textbox', { name: 'Message' }).fill(text)
      await page.keyboard.press('Enter')
    }
    await page.goto(await address('models', 'open-chat'))
    await say('Good morning')
    await page.locator('.turn-model').getByText('You said: Good morning').waitFor()
    await page.goto(await address('tools', 'open-tools'))
    await page.getByRole('textbox', { name: 'message' }).waitFor()
    await page.goto(`${program.admin}/ui/requests`)
    await page.locator('.table-body .row').filter({ hasText: '/v1/chat/completions' }).first().click()
    await page.getByRole('tab', { name: 'Send again' }).click()
    await page.getByRole('textbox', { name: 'Host' }).fill('elsewhere.example')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    const answer = page.getByRole('region', { name: 'Response' })
    await answer.getByText('no listener on this port has the name elsewhere.example').waitFor()
    await answer.getByText('It passes if').waitFor()
    assert.deepEqual(complaints, [])

    const why = /requires a client certificate/
    await page.goto(await address('models', 'mutual-chat'))
    await say('Good morning')
    await page.getByRole('alert').getByText(why).waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
    await page.goto(await address('tools', 'mutual-tools'))
    await page.getByText(why).waitFor()
    assert.deepEqual(await seriousFindings(page), [])
  })

  it('teaches where there are neither models nor tools', async (t) => {
    const { file } = useConfigFile(t, 'binds: []')
    const program = await useProgram(t, { args: ['-f', file] })
    const { page, complaints } = await openPage(t, browser, { viewport: SIZES.wide })
    await openReady({ page, complaints }, `${program.admin}/ui/`)
    await page.goto(`${program.admin}/ui/models`)
    await page.getByText('No route leads to models').waitFor()
    await page.goto(`${program.admin}/ui/tools`)
    await page.getByText('No route leads to tools').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    assert.deepEqual(complaints, [])
  })
})

/** Nobody listens at the first provider. */
const FAILOVER = {
  config: { workers: 1 },
  binds: [
    {
      port: 0,
      address: '127.0.0.1',
      listeners: [{ routes: [{ name: 'chat', backends: [{ backend: 'models' }] }] }],
    },
  ],
  backends: [
    {
      name: 'models',
      policies: { health: { eviction: { duration: '300s', consecutiveFailures: 1 } } },
      ai: {
        groups: [
          { providers: [{ name: 'first', openai: {}, host: '127.0.0.1', port: 9 }] },
          { providers: [{ name: 'spare', mock: {} }] },
        ],
      },
    },
  ],
}

function configText(port: number): object {
  const mock = (more: object = {}): object => ({ ai: { provider: { mock: more } } })
  const path = (pathPrefix: string): object => ({ matches: [{ path: { pathPrefix } }] })
  const forOps = { authorization: { rules: ['default(request.headers["x-team"], "") == "ops"'] } }
  const taken = { directResponse: { status: 200, body: 'taken' } }
  return {
    config: { workers: 1 },
    frontend: { recorder: { bodies: { when: 'request.path == "/kept"' } } },
    binds: [
      {
        port: 0,
        address: '127.0.0.1',
        listeners: [
          {
            name: 'web',
            routes: [
              {
                name: 'chat',
                ...path('/v1'),
                backends: [{ ...mock(), policies: { ai: { modelAliases: { fast: 'mock-large' } } } }],
              },
              {
                name: 'limited',
                ...path('/limited'),
                policies: { rateLimit: { local: [{ requests: 1, unit: 'Hours' }] } },
                backends: [mock()],
              },
              { name: 'slow', ...path('/slow'), backends: [mock({ tokensPerSecond: 2 })] },
              {
                name: 'tools',
                ...path('/mcp'),
                backends: [
                  {
                    mcp: {
                      targets: [
                        {
                          name: 'reference',
                          static: { host: '127.0.0.1', port },
                          tools: { description: { echo: `Says it again. ${EVIL}` } },
                        },
                      ],
                    },
                    policies: { mcp: { authorization: { rules: [{ deny: 'mcp.tool.name == "wait"' }] } } },
                  },
                ],
              },
              { name: 'kept', ...path('/kept'), backends: [{ host: `127.0.0.1:${port}` }] },
              { name: 'lost', ...path('/lost'), policies: { ...forOps, ...taken } },
            ],
          },
        ],
      },
    ],
  }
}

async function open(
  t: TestContext,
  browser: Browser,
  server: ReferenceServer,
  viewport: { width: number; height: number },
) {
  const { file } = useConfigFile(t, configText(server.port))
  const program = await useProgram(t, { args: ['-f', file] })
  const watched = await openPage(t, browser, { viewport })
  await openReady(watched, `${program.admin}/ui/`)
  return { program, ...watched }
}

async function routeKey(program: Program, name: string): Promise<string> {
  const view = (await (await fetch(`${program.admin}/api/routes`)).json()) as {
    binds: { listeners: { routes: { key: string; name: string }[] }[] }[]
  }
  const routes = view.binds.flatMap(({ listeners }) => listeners.flatMap((listener) => listener.routes))
  return routes.find((route) => route.name === name)?.key ?? assert.fail(`there is no route ${name}`)
}
