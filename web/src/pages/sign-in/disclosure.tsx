import { Button, Collapse } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { type ReactNode, useId, useState } from 'react'

/** A button that expands and collapses its content. */
export function Disclosure({ label, children }: { label: string; children: ReactNode }) {
  const [open, setOpen] = useState(false)
  const id = useId()
  return (
    <div>
      <Button
        variant="subtle"
        size="compact-md"
        ml={-8}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        leftSection={
          <IconChevronRight size={16} aria-hidden style={{ transform: open ? 'rotate(90deg)' : undefined }} />
        }
      >
        {label}
      </Button>
      <Collapse expanded={open} id={id} transitionDuration={0}>
        <div style={{ paddingTop: 8 }}>{children}</div>
      </Collapse>
    </div>
  )
}
