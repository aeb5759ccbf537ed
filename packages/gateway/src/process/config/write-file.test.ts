import assert from 'node:assert/strict'
import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { useConfigFile } from '../../testing/process.ts'
import { replaceFile, whyNotWritten } from './write-file.ts'

describe('replacing a file', () => {
  test('a text that somebody else has written is not lost, and no temporary file is left', (t) => {
    const { file, folder } = useConfigFile(t, 'theirs\n')
    assert.equal(replaceFile(file, 'mine\n', 'before\n'), false)
    assert.equal(readFileSync(file, 'utf8'), 'theirs\n')
    assert.deepEqual(readdirSync(folder), ['gateway.yaml'])
    assert.equal(replaceFile(join(folder, 'gone.yaml'), 'mine\n', 'before\n'), false)
    assert.deepEqual(readdirSync(folder), ['gateway.yaml'])
  })

  test('as Kubernetes mounts it: links stay, and the file behind them is replaced until they are swapped', (t) => {
    const { folder } = useConfigFile(t, '')
    for (const [at, text] of ['one\n', 'two\n'].entries()) {
      mkdirSync(join(folder, `..${at}`))
      writeFileSync(join(folder, `..${at}`, 'config.yaml'), text)
    }
    symlinkSync('..0', join(folder, '..data'))
    const path = join(folder, 'config.yaml')
    symlinkSync('..data/config.yaml', path)
    assert.equal(replaceFile(path, 'mine\n', 'one\n'), true)
    assert.equal(readFileSync(join(folder, '..0', 'config.yaml'), 'utf8'), 'mine\n')
    symlinkSync('..1', join(folder, '..data_tmp'))
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
    assert.equal(replaceFile(path, 'mine again\n', 'mine\n'), false)
    assert.equal(readFileSync(path, 'utf8'), 'two\n')
  })

  const isRoot = process.getuid?.() === 0
  test('the owner stays', { skip: isRoot ? false : 'only root can give files away' }, (t) => {
    const { file } = useConfigFile(t, 'one\n')
    chownSync(file, 65_534, 65_533)
    assert.equal(replaceFile(file, 'two\n', 'one\n'), true)
    const { uid, gid } = statSync(file)
    assert.deepEqual([uid, gid, readFileSync(file, 'utf8')], [65_534, 65_533, 'two\n'])
  })

  test('why it cannot be is said with what to do', () => {
    const failure = (code: string, syscall: string): NodeJS.ErrnoException =>
      Object.assign(new Error(`${code}: failed, ${syscall}`), { code, syscall })
    assert.match(whyNotWritten(failure('EPERM', 'fchown')), /may not keep the owner of the file \(EPERM\)/)
    assert.match(whyNotWritten(failure('EROFS', 'open')), /read-only/)
    assert.match(whyNotWritten(failure('EBUSY', 'rename')), /mount its folder/)
    assert.equal(whyNotWritten(failure('EIO', 'write')), 'EIO: failed, write')
  })
})
