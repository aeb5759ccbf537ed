import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, mock, test } from 'node:test'
import { promisify } from 'node:util'
import { skipWithout } from '../testing/installed.ts'
import { PROGRAM, runCommand, runProgram } from '../testing/program.ts'

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
      'rehearse',
      'lint',
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

  test('works in bash', { skip: skipWithout('bash') }, async () => {
    const script = `
      porticoctl() { "$NODE" "$PROGRAM" "$@"; }
      source <(porticoctl complete bash)
      COMP_WORDS=(porticoctl trace --ra) COMP_CWORD=2 COMP_LINE='porticoctl trace --ra' COMP_POINT=21
      _get_comp_words_by_ref() { cur=\${COMP_WORDS[COMP_CWORD]}; prev=\${COMP_WORDS[COMP_CWORD-1]}; words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; }
      $(complete -p porticoctl | sed -E 's/.*-F ([^ ]+).*/\\1/')
      printf '%s\\n' "\${COMPREPLY[@]}"`
    const env = { PATH: process.env['PATH'] ?? '', NODE: process.execPath, PROGRAM }
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { env })
    assert.match(stdout, /^--raw/, stderr)
  })
})
