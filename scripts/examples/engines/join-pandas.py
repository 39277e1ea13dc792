# pandas: pip install pandas pyarrow
import numpy as np
import pandas as pd
from ip_key import ip_key

networks = pd.read_parquet("networks.parquet")
starts, ends = (np.array(networks[name], "S16") for name in ("start_integer", "end_integer"))
visits = pd.read_csv("visits.csv")
keys = np.array([ip_key(ip) for ip in visits["ip"]], "S16")
row = np.searchsorted(starts, keys, side="right") - 1
row[keys > ends[row]] = -1  # gaps, and addresses before the first network, whose row is the last one
located = visits.join(networks[["country_code", "city"]].reindex(row).set_axis(visits.index))
located.to_csv("located.csv", index=False)
