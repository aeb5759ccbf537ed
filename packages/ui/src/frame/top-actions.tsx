import { ActionIcon, Kbd, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { logOut } from '../api/client.ts'
import { hasSession } from '../api/session.ts'
import { MOD_KEY } from './mod-key.ts'
import { LeaveIcon, MoonIcon, SunIcon } from '../parts/icons.tsx'

export function TopActions({ onSearch }: { onSearch: () => void }) {
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light') === 'dark'
  const label = isDark ? 'Light colors' : 'Dark colors'
  return (
    <div className="top-actions">
      <button type="button" className="search-button" onClick={onSearch}>
        <span>Search</span>
        <Kbd size="xs">{MOD_KEY}K</Kbd>
      </button>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={label}
        title={label}
        onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
      >
        {isDark ? <SunIcon /> : <MoonIcon />}
      </ActionIcon>
      {hasSession() && (
        <ActionIcon variant="subtle" color="gray" aria-label="Log out" title="Log out" onClick={() => void logOut()}>
          <LeaveIcon />
        </ActionIcon>
      )}
    </div>
  )
}
