import { Button } from '@mantine/core'
import { IconPlugConnectedX } from '@tabler/icons-react'
import { askNow, useAway } from '../api/reach'
import classes from './away-banner.module.css'
import { awayBannerText } from '../text/shell'

/** Says at the top that the server does not respond; it does not move the page. */
export function AwayBanner() {
  const away = useAway()
  return (
    <div role="status" className={classes.place}>
      {away && (
        <div className={classes.banner}>
          <IconPlugConnectedX size={18} aria-hidden />
          <span>{awayBannerText.cannotReachTheServerRetrying}</span>
          <Button size="compact-sm" color="amber" variant="filled" onClick={askNow}>
            {awayBannerText.tryNow}
          </Button>
        </div>
      )}
    </div>
  )
}
