import assert from 'node:assert/strict'
import { test } from 'node:test'
import { olderNode, runProgram } from './testing/program.ts'
import { VERSION } from './version.ts'

const old = olderNode()

test(
  'the command line runs from a checkout on an older Node',
  { skip: old === null ? 'no older Node is installed' : false },
  async () => {
    const { code, stdout } = await runProgram(['--version'], { node: old! })
    assert.deepEqual({ code, stdout }, { code: 0, stdout: `porticoctl ${VERSION}\n` })
    assert.equal((await runProgram(['trace'], { node: old! })).code, 2)
  },
)
