import { MOD_KEY } from './mod-key.ts'
import { Kbd, Modal } from '@mantine/core'
import { PAGES } from './pages.ts'

const KEYS: readonly (readonly [string, string])[] = [
  [`${MOD_KEY}K`, 'go to a page, a route, a backend or a request'],
  ['/', 'write a filter'],
  ['j · k', 'next, previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'close what is open'],
  [`${MOD_KEY}S`, 'apply the config that is written'],
  ['l', 'hold or go on with what is live'],
  [PAGES.map(({ key }) => key).join(' · '), PAGES.map(({ name }) => name).join(', ')],
  ['?', 'this list'],
]

export function KeysHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keys" size="sm" closeButtonProps={{ 'aria-label': 'Close' }}>
      <dl className="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <Kbd size="sm">{keys}</Kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  )
}
