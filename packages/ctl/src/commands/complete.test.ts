import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'
import { runCommand, runProgram } from '../testing/program.ts'

/** Runs the command in this process; the library prints suggestions with `console.log`. */
async function suggestions(...words: string[]): Promise<string[]> {
  const lines: string[] = []
  const { mock: log } = mock.method(console, 'log', (line: string) => void lines.push(line))
  const { code, stdout } = await runCommand(['complete', '--', ...words]).finally(() => log.restore())
  assert.equal(code, 0)
  return [...lines, ...stdout.split('\n')].filter((line) => line !== '').map((line) => line.split('\t')[0]!)
}

describe('completion', () => {
  test('knows commands, options and shells', async () => {
    assert.deepEqual(await suggestions(''), [
      'requests',
      'explain',
      'top',
      'shadow',
      'trace',
      'status',
      'effective',
      'translate',
      'test',
      'backtest',
      'capsule',
      'rehearse',
      'lint',
      'doctor',
      'import',
      'keys',
      'teams',
      'usage',
      'cache',
      'prices',
      'complete',
      ':4',
    ])
    assert.deepEqual(await suggestions('tr'), ['trace', 'translate', ':4'])
    assert.deepEqual(await suggestions('trace', '--ad'), ['--admin', '--admin-token', ':4'])
    assert.deepEqual(await suggestions('trace', '--local', '--r'), ['--raw', ':4'])
    assert.deepEqual(await suggestions('translate', '-'), ['-f', '-o', ':4'])
    assert.deepEqual(await suggestions('complete', 'b'), ['bash', ':4'])
  })

  test('leaves values and the arguments of curl to the shell', async () => {
    assert.deepEqual(await suggestions('trace', '--port', ''), [':4'])
    assert.deepEqual(await suggestions('trace', '--local', '--', ''), [':0'])
    for (const flag of ['-f', '--file']) assert.deepEqual(await suggestions('translate', flag, ''), [':0'])
    assert.deepEqual(await suggestions('translate', '-o', ''), [':4'])
  })

  test('prints a script for every shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
      const { code, stdout } = await runProgram(['complete', shell])
      assert.equal(code, 0)
      assert.match(stdout, /porticoctl/, shell)
    }
  })
})
