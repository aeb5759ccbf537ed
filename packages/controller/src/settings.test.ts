import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HELP, options } from './options.ts'
import { imageOf, parseCommand } from './settings.ts'

function settingsOf(args: string[], env: Record<string, string> = {}) {
  const command = parseCommand(args, env)
  return command.kind === 'run' ? command.settings : assert.fail(JSON.stringify(command))
}

describe('settings of the controller', () => {
  it('come from flags, from the environment, or are defaults', () => {
    assert.equal(settingsOf([]).namespace, 'portico-system')
    assert.equal(settingsOf([]).controllerAddress, 'portico-controller.portico-system.svc:9978')
    const env = { POD_NAMESPACE: 'edge', SERVICE_NAME: 'other', LOG_FORMAT: 'json', LOG_LEVEL: '' }
    const { namespace, logFormat, logLevel, controllerAddress } = settingsOf(['--namespace', 'mine'], env)
    assert.deepEqual([namespace, logFormat, logLevel], ['mine', 'json', 'info'])
    assert.equal(controllerAddress, 'other.mine.svc:9978')
  })

  it('have a list of namespaces, empty for all', () => {
    assert.equal(settingsOf([]).namespaces, null)
    assert.equal(settingsOf(['--namespaces', '']).namespaces, null)
    assert.deepEqual(settingsOf([], { NAMESPACES: 'shop, bank,shop' }).namespaces, ['shop', 'bank'])
  })

  it('allow no external names unless hosts are listed', () => {
    assert.deepEqual(settingsOf([]).externalNames, [])
    const listed = settingsOf([], { EXTERNAL_NAMES: 'DB.example.com, *.partner.example,' }).externalNames
    assert.deepEqual(listed, ['db.example.com', '*.partner.example'])
  })

  it('are rejected when they are invalid', () => {
    const refused = [
      ['--colour', 'blue'],
      ['--log-format', 'xml'],
      ['--leader-election', 'perhaps'],
      ['stray'],
      ['--image', '@'],
      ['--namespaces', 'shop,,bank'],
      ['--namespaces', 'Shop'],
      ['--external-names', '*'],
      ['--external-names', 'a.*.example'],
    ]
    for (const args of refused) assert.equal(parseCommand(args, {}).kind, 'mistake', args.join(' '))
  })

  it('are all in the help', () => {
    for (const [name, { variable }] of Object.entries(options)) {
      assert.ok(HELP.includes(`--${name} `) && HELP.includes(`; ${variable}\n`), name)
    }
  })

  it('split an image into its parts', () => {
    assert.deepEqual(imageOf('portico'), { repository: 'portico' })
    assert.deepEqual(imageOf('localhost'), { repository: 'localhost' })
    assert.deepEqual(imageOf('portico.example'), { repository: 'portico.example' })
    assert.deepEqual(imageOf('team/portico:1.2'), { repository: 'team/portico', tag: '1.2' })
    assert.deepEqual(imageOf('registry.example:5000/team/portico@sha256:0a1b'), {
      registry: 'registry.example:5000',
      repository: 'team/portico',
      digest: 'sha256:0a1b',
    })
    assert.deepEqual(imageOf('localhost/portico:v1@sha256:0a'), {
      registry: 'localhost',
      repository: 'portico',
      tag: 'v1',
      digest: 'sha256:0a',
    })
  })
})
