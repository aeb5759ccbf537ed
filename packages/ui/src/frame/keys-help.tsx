import { MOD_KEY } from './mod-key.ts'
import { Kbd, Modal } from '@mantine/core'
import { PAGES } from './pages.ts'

const KEYS: readonly (readonly [string, string])[] = [
  [`${MOD_KEY}K`, 'Go to a page, a route, a backend or a request'],
  ['/', 'Write a filter'],
  ['j · k', 'Next, previous row'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close the open detail or dialog'],
  [`${MOD_KEY}S`, 'Apply the edited config'],
  ['n', 'New key, or new team'],
  ['l', 'Pause or resume live requests'],
  [PAGES.map(({ key }) => key).join(' · '), PAGES.map(({ name }) => name).join(', ')],
  ['?', 'Show this list'],
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
