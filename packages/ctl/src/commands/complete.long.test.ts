import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { skipWithout } from '../testing/installed.ts'
import { PROGRAM } from '../testing/program.ts'

test('completion works in bash', { skip: skipWithout('bash') }, async () => {
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
