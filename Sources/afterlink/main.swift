print("afterlink")
